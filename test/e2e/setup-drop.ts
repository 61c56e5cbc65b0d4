import { setUp, usual } from "./setup";

/** Most networks drop what a NetworkPolicy denies. */
export default setUp({ ...usual, denied: "drop" });
