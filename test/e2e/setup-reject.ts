import { setUp } from "./setup";

/** Some networks refuse what a NetworkPolicy denies. */
export default setUp({ network: "kube-router", nodes: 1, ipFamilies: "ipv4", denied: "reject" }, { onlyNetwork: true });
