import { setUp } from "./setup";

/** Some networks refuse what a NetworkPolicy denies. */
export default setUp("reject");
