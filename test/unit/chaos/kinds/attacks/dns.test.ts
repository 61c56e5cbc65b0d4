import { describe, expect, it } from "vitest";
import { permits, readings } from "./network";
import { proofOf, denialOf } from "./support";

describe("a DNS attack", () => {
    it("blocks ports 53 and 5353, since some distributions move the DNS pods' port, and no other", () => {
        const spec = denialOf({ kind: "dns" });
        const isAllowed = (port: number, protocol: string) =>
            permits(spec, readings["Calico and kube-router"], "egress", "192.0.2.1", { port, protocol });
        expect(spec.policyTypes).toEqual(["Egress"]);
        for (const port of [53, 5353]) expect([isAllowed(port, "UDP"), isAllowed(port, "TCP")]).toEqual([false, false]);
        for (const port of [52, 54, 80, 5432]) expect(isAllowed(port, "TCP")).toBe(true);
    });

    it("is proven by a DNS lookup, and by connections that still work in both directions", () =>
        expect(proofOf({ kind: "dns" })).toEqual({
            lookup: { name: "kubernetes.default.svc" },
            stillWorks: { inward: { except: [] }, outward: { port: 8080 } },
        }));
});
