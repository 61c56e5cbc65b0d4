import { describe, expect, it } from "vitest";
import { type Attack, kindOf } from "../../../experiments/attacks/attack";

const rules = (attack: Attack) => kindOf(attack).rules!(attack);
const proof = (attack: Attack) => kindOf(attack).proof(attack);
const allows = (range: { protocol: string; port?: number; endPort?: number }[], protocol: string, port: number) =>
    range.some((one) => one.protocol === protocol && (one.port === undefined || (port >= one.port && port <= one.endPort!)));

describe("a blackhole", () => {
    it("allows nothing in and nothing out", () => expect(rules({ kind: "blackhole" })).toEqual({ policyTypes: ["Ingress", "Egress"] }));

    it.each([
        ["ingress", ["Ingress"]],
        ["egress", ["Egress"]],
    ] as const)("of %s alone leaves the other way as it is", (direction, policyTypes) => {
        expect(rules({ kind: "blackhole", direction })).toEqual({ policyTypes });
    });

    it("of some ports allows every other one", () => {
        const { ingress, egress } = rules({ kind: "blackhole", ports: [8080, 1, 65535] }) as Record<string, [{ ports: Parameters<typeof allows>[0] }]>;
        expect(ingress).toEqual(egress);
        const [{ ports }] = egress!;
        for (const protocol of ["TCP", "UDP"]) {
            for (const port of [1, 8080, 65535]) expect([port, allows(ports, protocol, port)]).toEqual([port, false]);
            for (const port of [2, 8079, 8081, 65534]) expect([port, allows(ports, protocol, port)]).toEqual([port, true]);
        }
        expect(allows(ports, "SCTP", 8080)).toBe(true);
    });

    it("is proven in each direction that it concerns", () => {
        expect(proof({ kind: "blackhole" })).toEqual({ inward: { ports: undefined }, outward: { port: 8080 } });
        expect(proof({ kind: "blackhole", direction: "ingress", ports: [5432] })).toEqual({ inward: { ports: [5432] }, outward: undefined });
        expect(proof({ kind: "blackhole", direction: "egress", ports: [5432] })).toEqual({ inward: undefined, outward: { port: 5432 } });
    });
});

describe("the loss of DNS", () => {
    it("takes port 53, as Services and as some distributions' pods have it, and no other", () => {
        const { policyTypes, egress } = rules({ kind: "dns" }) as { policyTypes: string[]; egress: [{ ports: Parameters<typeof allows>[0] }] };
        expect(policyTypes).toEqual(["Egress"]);
        for (const port of [53, 5353]) expect(allows(egress[0].ports, "UDP", port) || allows(egress[0].ports, "TCP", port)).toBe(false);
        for (const port of [52, 54, 80, 5432]) expect(allows(egress[0].ports, "TCP", port)).toBe(true);
    });

    it("is proven by a look-up alone", () => expect(proof({ kind: "dns" })).toEqual({ lookup: { name: "kubernetes.default.svc" } }));
});
