import { choose } from "./choose";

/** Some networks refuse what a NetworkPolicy denies. */
export default choose("reject");
