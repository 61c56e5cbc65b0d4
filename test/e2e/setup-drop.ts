import { setUp } from "./setup";

/** Most networks drop what a NetworkPolicy denies. */
export default setUp("drop");
