import type { AttackKind } from "./attack";
import { allPortsBut } from "./ports";

/** Takes name resolution from the targets, and nothing else. */
export interface DnsAttack {
    kind: "dns";
}

/** A policy binds where a Service leads to: the DNS pods' own port, which some distributions move to 5353. */
const dnsPorts = [53, 5353];

export const dns: AttackKind<DnsAttack> = {
    describe: () => "left without name resolution",
    rules: () => ({ policyTypes: ["Egress"], egress: [{ ports: allPortsBut(dnsPorts) }] }),
    // Every cluster has this name.
    proof: () => ({ lookup: { name: "kubernetes.default.svc" } }),
};
