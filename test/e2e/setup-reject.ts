import { setUp, usual } from "./setup";

/** Some networks refuse what a NetworkPolicy denies. */
export default setUp({ ...usual, denied: "reject" });
