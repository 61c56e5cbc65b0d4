import { describe, expect, it } from "vitest";
import { allows, type PortRange, proofOf, denialOf } from "./support";

describe("a DNS attack", () => {
    it("blocks ports 53 and 5353, since some distributions move the DNS pods' port, and no other", () => {
        const { policyTypes, egress } = denialOf({ kind: "dns" }) as {
            policyTypes: string[];
            egress: [{ ports: PortRange[] }];
        };
        expect(policyTypes).toEqual(["Egress"]);
        for (const port of [53, 5353])
            expect(allows(egress[0].ports, "UDP", port) || allows(egress[0].ports, "TCP", port)).toBe(false);
        for (const port of [52, 54, 80, 5432]) expect(allows(egress[0].ports, "TCP", port)).toBe(true);
    });

    it("is proven by a DNS lookup, and by connections that still work in both directions", () =>
        expect(proofOf({ kind: "dns" })).toEqual({
            lookup: { name: "kubernetes.default.svc" },
            stillWorks: { inward: { except: [] }, outward: { port: 8080 } },
        }));
});
