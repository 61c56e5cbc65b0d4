import { setUp } from "./setup";

/** Most networks drop what a NetworkPolicy denies. */
export default setUp({ network: "kube-router", nodes: 1, ipFamilies: "ipv4", denied: "drop" });
