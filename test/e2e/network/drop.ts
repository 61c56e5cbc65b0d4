import { choose } from "./choose";

/** Most networks drop what a NetworkPolicy denies. */
export default choose("drop");
