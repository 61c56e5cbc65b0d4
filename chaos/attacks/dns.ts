import * as z from "zod";
import type { AttackKind } from "./kind";
import { witnessPorts } from "./witness-ports";

/** Blocks DNS lookups in the targets, and nothing else. */
export interface DnsAttack {
    kind: "dns";
}

/** A policy applies to the DNS pods' own port, which some distributions move to 5353. */
export const dnsPorts = [53, 5353];

export const dns = {
    schema: z.strictObject({ kind: z.literal("dns") }),
    describe: () => "left without DNS",
    denies: () => ({ ways: ["egress"], ports: dnsPorts }),
    proof: () => ({
        // Every cluster has this name.
        lookup: { name: "kubernetes.default.svc" },
        // A network that ignores `endPort` blocks nearly all ports.
        stillWorks: { inward: { except: [] }, outward: { port: witnessPorts[0] } },
    }),
} satisfies AttackKind<DnsAttack>;
