import { describe, expect, it } from "vitest";
import { type Attack, attackKindOf } from "../../../../../chaos/kinds/attacks/registry";
import { peersIn } from "../../../../../chaos/policies/denial";
import { permits, readings } from "./network";
import { proofOf, denialOf } from "./support";

const calico = readings["Calico and kube-router"];

describe("a blackhole", () => {
    it("allows nothing in and nothing out", () =>
        expect(denialOf({ kind: "blackhole" })).toEqual({ policyTypes: ["Ingress", "Egress"] }));

    it.each([
        ["ingress", ["Ingress"]],
        ["egress", ["Egress"]],
    ] as const)("of %s traffic leaves the other direction alone", (direction, policyTypes) => {
        expect(denialOf({ kind: "blackhole", direction })).toEqual({ policyTypes });
    });

    it("of some ports allows all other ports", () => {
        const spec = denialOf({ kind: "blackhole", ports: [8080, 1, 65535] });
        const isAllowed = (protocol: string, port: number) =>
            (["ingress", "egress"] as const).map((way) => permits(spec, calico, way, "192.0.2.1", { protocol, port }));
        for (const protocol of ["TCP", "UDP"]) {
            for (const port of [1, 8080, 65535])
                expect([port, ...isAllowed(protocol, port)]).toEqual([port, false, false]);
            for (const port of [2, 8079, 8081, 65534])
                expect([port, ...isAllowed(protocol, port)]).toEqual([port, true, true]);
        }
        expect(isAllowed("SCTP", 8080)).toEqual([true, true]);
    });

    it("is proven in each direction that it blocks; what it leaves alone must still work", () => {
        expect(proofOf({ kind: "blackhole" })).toEqual({
            inward: { ports: undefined },
            outward: { port: 8080 },
            stillWorks: { untouched: true },
        });
        expect(proofOf({ kind: "blackhole", direction: "ingress", ports: [5432] })).toEqual({
            inward: { ports: [5432] },
            stillWorks: { inward: { except: [5432] }, outward: { port: 8080 } },
        });
        expect(proofOf({ kind: "blackhole", direction: "egress", ports: [5432] })).toEqual({
            outward: { port: 5432 },
            stillWorks: { inward: { except: [] }, outward: { port: 8080 } },
        });
    });

    it.each([
        [[8080], 18_080],
        // Without endPort, 8080 would be allowed as the first of the ports after this.
        [[8079], 18_080],
        [[8080, 18_080, 28_080], undefined],
    ])("of the ports %j must leave port %j of the witness alone", (ports, port) =>
        expect(proofOf({ kind: "blackhole", ports }).stillWorks!.outward?.port).toBe(port),
    );

    it("of some peers is proven between them and the targets; the witness and other ports must still work", () => {
        const peers = "k8s.deployment=database";
        expect(proofOf({ kind: "blackhole", peers, direction: "egress", ports: [5432] })).toEqual({
            peers: { ways: ["egress"], ports: [5432] },
            stillWorks: {
                inward: { except: [] },
                outward: { port: 8080 },
                peers: { ways: ["egress"], except: [5432] },
            },
        });
        expect(proofOf({ kind: "blackhole", peers })).toEqual({
            peers: { ways: ["ingress", "egress"] },
            stillWorks: { inward: { except: [] }, outward: { port: 8080 } },
        });
    });

    describe("of addresses", () => {
        const host = { host: "api.example.com", port: 443 };
        const block = { cidr: "203.0.113.0/24", except: ["203.0.113.128/25"] };

        it("is proven at each host and block from within the targets, and the API server must be reached", () => {
            expect(proofOf({ kind: "blackhole", peers: host })).toEqual({
                addresses: { hosts: [host], blocks: [] },
                stillWorks: {
                    inward: { except: [] },
                    outward: { port: 8080 },
                    host: { host: "kubernetes.default.svc", port: 443, isDefault: true },
                },
            });
            // Its own addresses may be in the block.
            const ofBlock = proofOf({ kind: "blackhole", peers: [block, host] });
            expect(ofBlock.addresses).toEqual({ hosts: [host], blocks: [block] });
            expect(ofBlock.stillWorks!.host).toBeUndefined();
            expect(proofOf({ kind: "blackhole", peers: [block, host], ports: [80, 443] }).addresses!.blocks).toEqual([
                { ...block, port: 80 },
                { ...block, port: 443 },
            ]);
        });

        it("has another positive control, if one is named", () => {
            const control = { host: "status.example.com", port: 443 };
            for (const peers of [host, [block, host]])
                expect(proofOf({ kind: "blackhole", peers, control }).stillWorks!.host).toEqual(control);
        });

        it.each<[Attack & { kind: "blackhole" }, string]>([
            [{ kind: "blackhole", peers: host }, "unable to reach api.example.com at port 443"],
            [{ kind: "blackhole", peers: { host: host.host } }, "unable to reach api.example.com"],
            [
                { kind: "blackhole", peers: [block, host], ports: [80, 443] },
                "unable to reach 203.0.113.0/24 except 203.0.113.128/25 on ports 80, 443 " +
                    "and api.example.com at port 443",
            ],
        ])("%j is described", (attack, words) => expect(attackKindOf(attack).describe(attack)).toBe(words));

        it("of a host without a port denies it at all ports, wherever it was found to answer", () => {
            const hosts = [{ host: "203.0.113.7", port: 80, addresses: ["203.0.113.7"], allPorts: true as const }];
            const spec = denialOf({ kind: "blackhole", peers: { host: "203.0.113.7" } }, peersIn({ hosts }));
            for (const protocol of ["TCP", "UDP"])
                for (const port of [80, 443, 5432])
                    expect(permits(spec, calico, "egress", "203.0.113.7", { protocol, port })).toBe(false);
            expect(permits(spec, calico, "egress", "203.0.113.8", { protocol: "TCP", port: 80 })).toBe(true);
        });

        it.each<[ports: number[] | undefined, isProven: boolean]>([
            [undefined, true],
            [[443], true],
            [[5432], false],
        ])("a host without a port can prove a block at the ports %j: %s", (ports, isProven) => {
            const attack: Attack = { kind: "blackhole", peers: [block, { host: "203.0.113.7" }], ports };
            expect(attackKindOf(attack).mistake!(attack) === undefined).toBe(isProven);
        });

        it("leaves no port of a host alone that is in a block without ports", () => {
            const hosts = [{ ...host, addresses: ["203.0.113.7"] }];
            const peers = [{ cidr: "203.0.113.0/24" }, host];
            expect(denialOf({ kind: "blackhole", peers }, peersIn({ hosts }))).toEqual({
                policyTypes: ["Egress"],
                egress: [
                    {
                        to: [
                            { namespaceSelector: {} },
                            { ipBlock: { cidr: "0.0.0.0/0", except: ["203.0.113.0/24"] } },
                            { ipBlock: { cidr: "::/0" } },
                        ],
                    },
                ],
            });
        });
    });
});
