import * as z from "zod";
import { type PolicyKind, witnessPorts } from "./attack-kind";

/** Blocks DNS lookups in the targets, and nothing else. */
export interface DnsAttack {
    kind: "dns";
}

/** A policy applies to the DNS pods' own port, which some distributions move to 5353. */
export const dnsPorts = [53, 5353];

export const dns: PolicyKind<DnsAttack> = {
    schema: z.strictObject({ kind: z.literal("dns") }),
    examples: [{ kind: "dns" }],
    describe: () => "left without DNS",
    effect: "isolated from DNS",
    denies: () => ({ ways: ["egress"], ports: dnsPorts }),
    proof: () => ({
        // Every cluster has this name.
        lookup: { name: "kubernetes.default.svc" },
        // A network that ignores `endPort` blocks nearly all ports.
        stillWorks: { inward: { except: [] }, outward: { port: witnessPorts[0] } },
    }),
};
