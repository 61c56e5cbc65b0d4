import { describe, expect, it } from "vitest";
import type { Address } from "../../../../chaos/kinds/attacks/addresses";
import type { Attack } from "../../../../chaos/kinds/attacks/registry";
import { chooseForAll } from "../../../../chaos/targets/choose";
import { distinctiveLabel } from "../../../../chaos/targets/distinguish";
import { peersOf } from "../../../../chaos/targets/discover";
import { containersOf, type Pod } from "../../../../chaos/targets/containers";
import { peersIn } from "../../../../chaos/policies/denial";
import { type End, permits, readings } from "../kinds/attacks/network";
import { proofOf, denialOf } from "../kinds/attacks/support";

let pods = 0;
function pod(name: string, app: string, namespace = "demo", labels = { app } as Record<string, string>): Pod {
    pods++;
    return {
        metadata: { name, namespace, uid: name, labels: { "pod-template-hash": `${app}-7f`, ...labels } },
        spec: { containers: [{ name: app, ports: [{ containerPort: 8080 }] }] },
        status: {
            podIP: `10.0.0.${pods}`,
            podIPs: [{ ip: `10.0.0.${pods}` }, { ip: `fd00::${pods}` }],
            conditions: [{ type: "Ready", status: "True" }],
        },
    };
}

const target = pod("hot-deals-1", "hot-deals");
const database = pod("database-1", "database");
const others: Record<string, End> = {
    "another pod of the namespace": pod("gateway-1", "gateway"),
    "another pod of the target's workload": pod("hot-deals-2", "hot-deals"),
    "a pod without labels": pod("bare", "bare", "demo", {}),
    "the same workload in another namespace": pod("database-2", "database", "other"),
    "DNS in kube-system": pod("coredns", "coredns", "kube-system"),
    "an address outside of the cluster, IPv4": "192.0.2.1",
    "an address outside of the cluster, IPv6": "2001:db8::1",
};
const familiesOf = (end: End) =>
    (typeof end !== "string" ? ([4, 6] as const) : end.includes(":") ? [6] : [4]) as (4 | 6)[];

/** The rules of an attack on hot-deals-1, whose peers are chosen among all pods. */
function rulesOn(attack: Attack) {
    const all = [target, database, ...Object.values(others).filter((end) => typeof end !== "string")];
    const discovered = all.flatMap((one) => containersOf(one, one.spec!.containers[0]!.name, "local"));
    const request = {
        name: "it",
        target: "k8s.pod.name=hot-deals-1",
        radius: { kind: "all" } as const,
        peers: peersOf(attack),
    };
    const [{ peers }] = chooseForAll(discovered, { attacks: [request] }) as [ReturnType<typeof chooseForAll>[0]];
    const neighbors = all.filter(({ metadata }) => metadata!.namespace === peers?.[0]!.namespace);
    const label = peers && distinctiveLabel(new Set(peers.map(({ uid }) => uid)), neighbors);
    return denialOf(attack, peers && { pods: peers, label });
}

const ways = ["ingress", "egress"] as const;

describe.each(Object.entries(readings))("on %s", (_name, reading) => {
    it.each(Object.entries(others))("a blackhole cuts off %s, in both families", (_, end) => {
        const spec = rulesOn({ kind: "blackhole" });
        for (const way of ways)
            for (const family of familiesOf(end)) expect(permits(spec, reading, way, end, { family })).toBe(false);
    });

    it("a blackhole of one direction leaves the other alone", () => {
        const spec = rulesOn({ kind: "blackhole", direction: "ingress" });
        expect(permits(spec, reading, "ingress", database)).toBe(false);
        expect(permits(spec, reading, "egress", database)).toBe(true);
    });

    const peers = "k8s.deployment=database,k8s.namespace=demo";

    it("a blackhole of some peers cuts them off in both families", () => {
        const spec = rulesOn({ kind: "blackhole", peers });
        for (const way of ways)
            for (const family of [4, 6] as const) expect(permits(spec, reading, way, database, { family })).toBe(false);
    });

    it.each(Object.entries(others))("a blackhole of some peers leaves %s alone, in both families", (_, end) => {
        const spec = rulesOn({ kind: "blackhole", peers });
        for (const way of ways)
            for (const family of familiesOf(end)) expect(permits(spec, reading, way, end, { family })).toBe(true);
    });

    const ofPort: Attack & { kind: "blackhole" } = { kind: "blackhole", ports: [5432] };

    it("a blackhole of some ports blocks these, of everybody or of the peers", () => {
        for (const end of [database, ...Object.values(others)])
            expect(permits(rulesOn(ofPort), reading, "egress", end, { port: 5432 })).toBe(false);
        const spec = rulesOn({ ...ofPort, peers });
        expect(permits(spec, reading, "egress", database, { port: 5432 })).toBe(false);
        expect(permits(spec, reading, "egress", others["another pod of the namespace"]!, { port: 5432 })).toBe(true);
    });

    describe("a blackhole of addresses", () => {
        const of = (...peers: Address[]) => {
            const hosts = peers.flatMap((one) =>
                "host" in one ? [{ ...one, port: one.port!, addresses: [one.host] }] : [],
            );
            return denialOf({ kind: "blackhole", peers }, peersIn({ hosts }));
        };
        const third = { host: "192.0.2.1", port: 443 };
        const reaches = (spec: ReturnType<typeof of>, end: End, port = 443) =>
            familiesOf(end).every((family) => permits(spec, reading, "egress", end, { family, port }));

        it("cuts off a host at its port, and nothing else outside of the cluster", () => {
            const spec = of(third, { host: "2001:db8::1", port: 8443 });
            expect(reaches(spec, "192.0.2.1")).toBe(false);
            expect(reaches(spec, "2001:db8::1", 8443)).toBe(false);
            expect([reaches(spec, "192.0.2.2"), reaches(spec, "2001:db8::2", 8443)]).toEqual([true, true]);
            for (const [end, port] of [
                ["192.0.2.1", 80],
                ["2001:db8::1", 443],
            ] as const)
                expect(reaches(spec, end, port)).toBe(reading.endPort);
        });

        it("cuts off a block, but for what it excepts", () => {
            const spec = of({ cidr: "192.0.0.0/8", except: ["192.168.0.0/16"] }, third);
            expect(["192.0.2.1", "192.1.1.1"].map((end) => reaches(spec, end, 80))).toEqual([false, false]);
            expect(["192.168.1.1", "193.0.0.1", "2001:db8::1"].map((end) => reaches(spec, end))).toEqual([
                true,
                true,
                true,
            ]);
        });

        it("leaves all pods alone, also those in a block, and other hosts in what a block excepts", () => {
            const spec = of({ cidr: "0.0.0.0/0", except: ["192.0.0.0/8"] }, { cidr: "::/0" }, third);
            for (const end of [database, ...Object.values(others)])
                if (typeof end !== "string") expect(reaches(spec, end)).toBe(true);
            expect(reaches(spec, "192.0.2.2")).toBe(true);
            expect(["192.0.2.1", "198.51.100.1", "2001:db8::1"].map((end) => reaches(spec, end))).toEqual([
                false,
                false,
                false,
            ]);
        });

        it("leaves connections into the targets alone", () =>
            expect(permits(of(third), reading, "ingress", "192.0.2.1")).toBe(true));
    });

    it("an attack on DNS blocks DNS", () => {
        for (const port of [53, 5353])
            for (const protocol of ["UDP", "TCP"])
                expect(permits(rulesOn({ kind: "dns" }), reading, "egress", database, { port, protocol })).toBe(false);
    });

    it.each<[string, Attack]>([
        ["an attack on DNS", { kind: "dns" }],
        ["a blackhole of some ports", ofPort],
        ["a blackhole of a port beside the witness's", { kind: "blackhole", ports: [8079] }],
    ])("%s leaves other ports alone, or the positive control notices", (_, attack) => {
        const { port } = proofOf(attack).stillWorks!.outward!;
        expect(permits(rulesOn(attack), reading, "egress", database, { port })).toBe(reading.endPort);
    });
});

describe("peers that no label tells from others", () => {
    const spec = rulesOn({ kind: "blackhole", peers: "k8s.pod.name=hot-deals-2" });
    const neighbor = others["another pod of the namespace"]!;
    const outside = Object.entries(others).filter(([name]) => !/of the namespace|workload$|without/.test(name));

    it("are cut off, and nobody else, where ipBlock matches pods", () => {
        const reading = readings["Calico and kube-router"];
        expect(permits(spec, reading, "egress", others["another pod of the target's workload"]!)).toBe(false);
        expect(permits(spec, reading, "egress", neighbor)).toBe(true);
    });

    it("are cut off with all pods of their namespace where it does not: the witness is among these", () => {
        expect(permits(spec, readings.Cilium, "egress", neighbor)).toBe(false);
        for (const [, end] of outside)
            expect(permits(spec, readings.Cilium, "egress", end, { family: familiesOf(end)[0] })).toBe(true);
    });
});
