import type { V1Pod } from "@kubernetes/client-node";
import { describe, expect, it } from "vitest";
import { choose, chooseForAll } from "../../../experiments/targets/choose";
import type { PlannedAttack } from "../../../experiments/plan";
import { attackable, type Discovered, select } from "../../../shared/containers";
import type { Radius } from "../../../shared/radius";
import { locateTarget } from "../../../experiments/targets/locate";

function container(deployment: string, index: number, namespace = "demo"): Discovered {
    const pod = `${deployment}-${index}`;
    return {
        namespace,
        pod,
        uid: `${namespace}/${pod}`,
        container: deployment,
        containerId: `containerd://${pod}`,
        address: `10.0.0.${index}`,
        ports: [8080],
        attributes: {
            "k8s.namespace": namespace,
            "k8s.deployment": deployment,
            "k8s.pod.name": pod,
            "k8s.label.tier": deployment === "gateway" ? "edge" : "backend",
        },
    };
}
const discovered = [
    ...[1, 2, 3, 4].map((index) => container("hot-deals", index)),
    container("gateway", 5),
    container("toys-bestseller", 6),
    container("hot-deals", 7, "other"),
];
const names = (expression: string) => select(discovered, expression).map(({ namespace, pod }) => `${namespace}/${pod}`);

describe("an expression describes the containers for which all its conditions hold", () => {
    it.each([
        ["k8s.deployment=gateway", ["demo/gateway-5"]],
        ["k8s.deployment=hot-deals,k8s.namespace=other", ["other/hot-deals-7"]],
        ["k8s.deployment=gateway|toys-bestseller", ["demo/gateway-5", "demo/toys-bestseller-6"]],
        ["k8s.deployment=toys-*", ["demo/toys-bestseller-6"]],
        ["k8s.deployment!=hot-deals", ["demo/gateway-5", "demo/toys-bestseller-6"]],
        ["k8s.label.tier=edge", ["demo/gateway-5"]],
        ["k8s.daemonset=anything", []],
    ])("%s", (expression, expected) => expect(names(expression)).toEqual(expected));
});

describe("no more containers are attacked than the radius allows", () => {
    const four = "k8s.deployment=hot-deals,k8s.namespace=demo";
    it.each([
        [{ kind: "count", containers: 1 } as const, 1],
        [{ kind: "count", containers: 9 } as const, 4],
        [{ kind: "share", share: 0.5 } as const, 2],
        [{ kind: "share", share: 0.49 } as const, 1],
        [{ kind: "all" } as const, 4],
    ])("%j of four: %i", (radius, expected) => {
        const { matching, targets } = choose(discovered, four, radius);
        expect(matching).toBe(4);
        expect(new Set(targets.map(({ uid }) => uid)).size).toBe(expected);
        for (const target of targets) expect(target).toMatchObject({ namespace: "demo", container: "hot-deals" });
    });

    it("a share that allows none is refused", () => {
        expect(() => choose(discovered, "k8s.deployment=gateway", { kind: "share", share: 0.5 })).toThrow(
            "allows none of the 1",
        );
    });

    it("pods are hit whole: those of which too many containers match are left alone", () => {
        const sidecars = [1, 2].map((index) => ({ ...container("hot-deals", index), container: "sidecar" }));
        const withSidecars = [...discovered, ...sidecars];
        for (let round = 0; round < 20; round++) {
            const { matching, targets } = choose(withSidecars, four, { kind: "count", containers: 3 });
            expect(matching).toBe(6);
            const hit = new Set(targets.map(({ uid }) => uid));
            expect(withSidecars.filter(({ uid }) => hit.has(uid))).toHaveLength(targets.length);
            expect(targets.length).toBeLessThanOrEqual(3);
            expect(choose(withSidecars, four, { kind: "count", containers: 1 }).targets[0]!.pod).toMatch(/-[34]$/);
        }
        expect(() => choose([container("hot-deals", 1), sidecars[0]!], four, { kind: "count", containers: 1 })).toThrow(
            /at least 2 of them, where the radius allows 1.*experiment.radius 2/,
        );
    });

    it("chance decides which", () => {
        const chosen = Array.from(
            { length: 200 },
            () => choose(discovered, four, { kind: "count", containers: 1 }).targets[0]!.pod,
        );
        expect(new Set(chosen).size).toBe(4);
    });
});

describe("a pod is hit by one attack only", () => {
    const attack = (
        name: string,
        target: string,
        radius: Radius = { kind: "count", containers: 2 },
    ): PlannedAttack => ({ name, target, radius, attack: { kind: "blackhole" } });
    const hotDeals = "k8s.deployment=hot-deals,k8s.namespace=demo";

    it("each chooses among the pods that none before it has chosen", () => {
        for (let round = 0; round < 20; round++) {
            const chosen = chooseForAll(discovered, [attack("blackhole", hotDeals), attack("blackhole-2", hotDeals)]);
            expect(chosen.map(({ matching, targets }) => [matching, targets.length])).toEqual([
                [4, 2],
                [2, 2],
            ]);
            expect(new Set(chosen.flatMap(({ targets }) => targets.map(({ uid }) => uid))).size).toBe(4);
        }
    });

    it("and where none is left the experiment is refused, and told why", () => {
        expect(() =>
            chooseForAll(discovered, [attack("blackhole", hotDeals, { kind: "all" }), attack("dns", hotDeals)]),
        ).toThrow(/all 4 running containers that match .* attacks before dns have taken/);
    });
});

describe("the peers of an attack", () => {
    const attack = (peers: string): PlannedAttack => ({
        name: "blackhole",
        target: "k8s.deployment=gateway",
        radius: { kind: "all" },
        attack: { kind: "blackhole", peers },
    });
    const peersOf = (peers: string) => chooseForAll(discovered, [attack(peers)])[0]!.peers!.map(({ pod }) => pod);

    it("are all that match, the targets themselves aside", () =>
        expect(peersOf("k8s.namespace=demo,k8s.deployment!=hot-deals")).toEqual(["toys-bestseller-6"]));

    it("are somebody: else the experiment is refused, with a list of what there is", () => {
        expect(() => peersOf("k8s.deployment=gateway")).toThrow(
            /no running container matches the peers k8s\.deployment=gateway.*There is:/s,
        );
    });
});

it("a target that matches nothing is refused with a list of what there is", () => {
    expect(() => choose(discovered, "k8s.deployment=hot-deal", { kind: "count", containers: 1 })).toThrow(
        /no running container matches k8s\.deployment=hot-deal(.|\n)*k8s\.deployment=hot-deals,k8s\.namespace=demo {2}\(4 containers\)/,
    );
});

describe("a pod is never attacked", () => {
    const pod: V1Pod = {
        metadata: { name: "a", namespace: "demo", labels: {} },
        spec: { containers: [] },
        status: { phase: "Running", podIP: "10.0.0.1" },
    };
    it("unless something else is said, it may be", () => expect(attackable(pod)).toBe(true));
    it.each<[string, V1Pod]>([
        ["in the cluster's own namespace", { ...pod, metadata: { ...pod.metadata, namespace: "kube-system" } }],
        ["on the host's network", { ...pod, spec: { containers: [], hostNetwork: true } }],
        [
            "labelled as protected",
            { ...pod, metadata: { ...pod.metadata, labels: { "chaos-shop/protected": "true" } } },
        ],
        [
            "belonging to an experiment",
            { ...pod, metadata: { ...pod.metadata, labels: { "chaos-shop/experiment": "hot-deals-blackhole" } } },
        ],
        ["not running", { ...pod, status: { phase: "Pending" } }],
        ["being deleted", { ...pod, metadata: { ...pod.metadata, deletionTimestamp: new Date() } }],
    ])("%s", (_, candidate) => expect(attackable(candidate)).toBe(false));
});

describe("a target is looked for in one namespace", () => {
    it.each([
        [
            "k8s.deployment=hot-deals",
            "Global",
            { target: "k8s.deployment=hot-deals,k8s.namespace=demo", namespace: "demo" },
        ],
        [
            "k8s.deployment=hot-deals",
            "other",
            { target: "k8s.deployment=hot-deals,k8s.namespace=other", namespace: "other" },
        ],
        ["k8s.deployment=a,k8s.namespace=b", "Global", { target: "k8s.deployment=a,k8s.namespace=b", namespace: "b" }],
    ])("%s in %s", (target, area, expected) => expect(locateTarget(target, area, "demo")).toEqual(expected));

    it.each(["k8s.namespace=a|b", "k8s.namespace!=a", "k8s.namespace=a*"])("%s is refused", (target) => {
        expect(() => locateTarget(target, "Global", "demo")).toThrow("exactly one namespace");
    });
});
