import { describe, expect, it } from "vitest";
import type { BlackholeAttack } from "../../../../chaos/attacks/blackhole";
import { allows, type PortRange, proofOf, rulesOf } from "./support";

describe("a blackhole", () => {
    it("allows nothing in and nothing out", () =>
        expect(rulesOf({ kind: "blackhole" })).toEqual({ policyTypes: ["Ingress", "Egress"] }));

    it.each([
        ["ingress", ["Ingress"]],
        ["egress", ["Egress"]],
    ] as const)("of %s traffic leaves the other direction alone", (direction, policyTypes) => {
        expect(rulesOf({ kind: "blackhole", direction })).toEqual({ policyTypes });
    });

    it("of some ports allows all other ports", () => {
        const { ingress, egress } = rulesOf({ kind: "blackhole", ports: [8080, 1, 65535] }) as Record<
            string,
            [{ ports: PortRange[] }]
        >;
        expect(ingress).toEqual(egress);
        const [{ ports }] = egress!;
        for (const protocol of ["TCP", "UDP"]) {
            for (const port of [1, 8080, 65535]) expect([port, allows(ports, protocol, port)]).toEqual([port, false]);
            for (const port of [2, 8079, 8081, 65534])
                expect([port, allows(ports, protocol, port)]).toEqual([port, true]);
        }
        expect(allows(ports, "SCTP", 8080)).toBe(true);
    });

    it("is proven in each direction that it blocks", () => {
        expect(proofOf({ kind: "blackhole" })).toEqual({ inward: { ports: undefined }, outward: { port: 8080 } });
        expect(proofOf({ kind: "blackhole", direction: "ingress", ports: [5432] })).toEqual({
            inward: { ports: [5432] },
            outward: undefined,
        });
        expect(proofOf({ kind: "blackhole", direction: "egress", ports: [5432] })).toEqual({
            inward: undefined,
            outward: { port: 5432 },
        });
    });
});

describe("a blackhole of some peers", () => {
    const peers = "k8s.deployment=database";
    const ruled = (attack: Omit<BlackholeAttack, "kind" | "peers">, addresses: string[]) =>
        rulesOf({ kind: "blackhole", peers, ...attack }, addresses);

    it("allows all addresses but theirs, in each direction that it blocks", () => {
        const others = [{ ipBlock: { cidr: "0.0.0.0/0", except: ["10.0.0.7/32", "10.0.0.8/32"] } }];
        expect(ruled({}, ["10.0.0.7", "10.0.0.8"])).toEqual({
            policyTypes: ["Ingress", "Egress"],
            ingress: [{ from: others }],
            egress: [{ to: others }],
        });
        expect(ruled({ direction: "egress" }, ["10.0.0.7", "10.0.0.8"])).toEqual({
            policyTypes: ["Egress"],
            egress: [{ to: others }],
        });
    });

    it("names only the address families that the peers have", () => {
        expect(ruled({ direction: "ingress" }, ["fd00::7"])).toEqual({
            policyTypes: ["Ingress"],
            ingress: [{ from: [{ ipBlock: { cidr: "::/0", except: ["fd00::7/128"] } }] }],
        });
    });

    it("of some ports allows them all other ports", () => {
        const { egress } = ruled({ direction: "egress", ports: [5432] }, ["10.0.0.7"]) as {
            egress: [object, { ports: PortRange[] }];
        };
        expect(egress[0]).toEqual({ to: [{ ipBlock: { cidr: "0.0.0.0/0", except: ["10.0.0.7/32"] } }] });
        expect([5432, 5433].map((port) => allows(egress[1].ports, "TCP", port))).toEqual([false, true]);
    });

    it("is proven only between the targets and the peers", () => {
        expect(proofOf({ kind: "blackhole", peers, direction: "egress", ports: [5432] })).toEqual({
            peers: { ways: ["egress"], ports: [5432] },
        });
        expect(proofOf({ kind: "blackhole", peers })).toEqual({
            peers: { ways: ["ingress", "egress"], ports: undefined },
        });
    });
});
