import { describe, expect, it } from "vitest";
import { type Attack, kindOf } from "../../../experiments/attacks/attack";
import type { BlackholeAttack } from "../../../experiments/attacks/blackhole";

const rules = (attack: Attack) => kindOf(attack).rules!(attack);
const proof = (attack: Attack) => kindOf(attack).proof(attack);
const allows = (range: { protocol: string; port?: number; endPort?: number }[], protocol: string, port: number) =>
    range.some(
        (one) => one.protocol === protocol && (one.port === undefined || (port >= one.port && port <= one.endPort!)),
    );

describe("a blackhole", () => {
    it("allows nothing in and nothing out", () =>
        expect(rules({ kind: "blackhole" })).toEqual({ policyTypes: ["Ingress", "Egress"] }));

    it.each([
        ["ingress", ["Ingress"]],
        ["egress", ["Egress"]],
    ] as const)("of %s alone leaves the other way as it is", (direction, policyTypes) => {
        expect(rules({ kind: "blackhole", direction })).toEqual({ policyTypes });
    });

    it("of some ports allows every other one", () => {
        const { ingress, egress } = rules({ kind: "blackhole", ports: [8080, 1, 65535] }) as Record<
            string,
            [{ ports: Parameters<typeof allows>[0] }]
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

    it("is proven in each direction that it concerns", () => {
        expect(proof({ kind: "blackhole" })).toEqual({ inward: { ports: undefined }, outward: { port: 8080 } });
        expect(proof({ kind: "blackhole", direction: "ingress", ports: [5432] })).toEqual({
            inward: { ports: [5432] },
            outward: undefined,
        });
        expect(proof({ kind: "blackhole", direction: "egress", ports: [5432] })).toEqual({
            inward: undefined,
            outward: { port: 5432 },
        });
    });
});

describe("a blackhole of some peers", () => {
    const peers = "k8s.deployment=database";
    const ruled = (attack: Omit<BlackholeAttack, "kind" | "peers">, addresses: string[]) =>
        kindOf<BlackholeAttack>({ kind: "blackhole", peers }).rules!(
            { kind: "blackhole", peers, ...attack },
            addresses,
        );

    it("allows every address but theirs, in each direction that it concerns", () => {
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

    it("knows both families of addresses, and asks for none that no peer is of", () => {
        expect(ruled({ direction: "ingress" }, ["fd00::7"])).toEqual({
            policyTypes: ["Ingress"],
            ingress: [{ from: [{ ipBlock: { cidr: "::/0", except: ["fd00::7/128"] } }] }],
        });
    });

    it("of some ports allows them every other one", () => {
        const { egress } = ruled({ direction: "egress", ports: [5432] }, ["10.0.0.7"]) as {
            egress: [object, { ports: Parameters<typeof allows>[0] }];
        };
        expect(egress[0]).toEqual({ to: [{ ipBlock: { cidr: "0.0.0.0/0", except: ["10.0.0.7/32"] } }] });
        expect([5432, 5433].map((port) => allows(egress[1].ports, "TCP", port))).toEqual([false, true]);
    });

    it("is proven between the targets and them alone", () => {
        expect(proof({ kind: "blackhole", peers, direction: "egress", ports: [5432] })).toEqual({
            peers: { ways: ["egress"], ports: [5432] },
        });
        expect(proof({ kind: "blackhole", peers })).toEqual({
            peers: { ways: ["ingress", "egress"], ports: undefined },
        });
    });
});

describe("the loss of DNS", () => {
    it("takes port 53, as Services and as some distributions' pods have it, and no other", () => {
        const { policyTypes, egress } = rules({ kind: "dns" }) as {
            policyTypes: string[];
            egress: [{ ports: Parameters<typeof allows>[0] }];
        };
        expect(policyTypes).toEqual(["Egress"]);
        for (const port of [53, 5353])
            expect(allows(egress[0].ports, "UDP", port) || allows(egress[0].ports, "TCP", port)).toBe(false);
        for (const port of [52, 54, 80, 5432]) expect(allows(egress[0].ports, "TCP", port)).toBe(true);
    });

    it("is proven by a look-up alone", () =>
        expect(proof({ kind: "dns" })).toEqual({ lookup: { name: "kubernetes.default.svc" } }));
});
