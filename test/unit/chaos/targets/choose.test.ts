import { describe, expect, it } from "vitest";
import { chooseForAll, type Chosen, type TargetRequest } from "../../../../chaos/targets/choose";
import { type Discovered, select } from "../../../../chaos/targets/containers";
import type { Radius } from "../../../../chaos/targets/radius";
import { inOrder } from "../../../support/in-order";

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
        ready: true,
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
const choose = (found: Discovered[], target: string, radius: Radius, written?: { settings?: string }) =>
    chooseForAll(found, { attacks: [{ name: "blackhole", target, radius }], ...written })[0]!;
const names = (expression: string) => select(discovered, expression).map(({ namespace, pod }) => `${namespace}/${pod}`);

describe("an expression matches the containers that meet all its conditions", () => {
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

const hotDeals = "k8s.deployment=hot-deals,k8s.namespace=demo";
const all: Radius = { kind: "all" };
const one: Radius = { kind: "count", containers: 1 };

describe("never more containers are attacked than the radius allows", () => {
    it.each<[Radius, number]>([
        [one, 1],
        [{ kind: "count", containers: 9 }, 4],
        [{ kind: "share", share: 0.5 }, 2],
        [{ kind: "share", share: 0.49 }, 1],
        [all, 4],
    ])("%j of four: %i", (radius, expected) => {
        const { matching, targets } = choose(discovered, hotDeals, radius);
        expect(matching).toBe(4);
        expect(new Set(targets.map(({ uid }) => uid)).size).toBe(expected);
        for (const target of targets) expect(target).toMatchObject({ namespace: "demo", container: "hot-deals" });
    });

    it("a share that allows no container is rejected", () => {
        expect(() => choose(discovered, "k8s.deployment=gateway", { kind: "share", share: 0.5 })).toThrow(
            "allows none of the 1",
        );
    });

    it("a pod is hit with all its matching containers or not at all", () => {
        const sidecars = [1, 2].map((index) => ({ ...container("hot-deals", index), container: "sidecar" }));
        const withSidecars = [...discovered, ...sidecars];
        for (let round = 0; round < 20; round++) {
            const { matching, targets } = choose(withSidecars, hotDeals, { kind: "count", containers: 3 });
            expect(matching).toBe(6);
            const hit = new Set(targets.map(({ uid }) => uid));
            expect(withSidecars.filter(({ uid }) => hit.has(uid))).toHaveLength(targets.length);
            expect(targets.length).toBeLessThanOrEqual(3);
            expect(choose(withSidecars, hotDeals, one).targets[0]!.pod).toMatch(/-[34]$/);
        }
        const few = [container("hot-deals", 1), sidecars[0]!];
        const settings = "experiment.";
        expect(() => choose(few, hotDeals, one, { settings })).toThrow(
            /at least 2 matching containers.*the radius allows 1.*experiment.radius 2/,
        );
    });

    it("the targets are chosen at random", () => {
        const chosen = Array.from({ length: 200 }, () => choose(discovered, hotDeals, one).targets[0]!.pod);
        expect(new Set(chosen).size).toBe(4);
    });
});

describe("a pod is hit by one attack only", () => {
    const two: Radius = { kind: "count", containers: 2 };
    const attack = (name: string, radius: Radius = two): TargetRequest => ({ name, target: hotDeals, radius });

    it("each attack chooses among the pods that earlier attacks have left", () => {
        for (let round = 0; round < 20; round++) {
            const chosen = chooseForAll(discovered, { attacks: [attack("blackhole"), attack("blackhole-2")] });
            expect(chosen.map(({ matching, targets }) => [matching, targets.length])).toEqual([
                [4, 2],
                [2, 2],
            ]);
            expect(new Set(chosen.flatMap(({ targets }) => targets.map(({ uid }) => uid))).size).toBe(4);
        }
    });

    it("and if none is left, the experiment is rejected with the reason", () => {
        const attacks = [attack("blackhole", all), attack("dns")];
        expect(() => chooseForAll(discovered, { attacks })).toThrow(
            /the attacks before dns already use every pod that matches /,
        );
    });
});

describe("a pod that is not ready", () => {
    const withReady = (...ready: boolean[]) =>
        ready.map((one, index) => ({ ...container("hot-deals", index + 1), ready: one }));
    const chosen = (found: Discovered[], includeNotReady?: boolean, radius: Radius = all) => {
        const attack = { name: "blackhole", target: hotDeals, radius, includeNotReady };
        const [{ matching, targets }] = chooseForAll(found, { attacks: [attack], settings: "experiment." }) as [Chosen];
        return { matching, pods: targets.map(({ pod }) => pod).sort() };
    };

    it("is no target, and does not count for the radius", () => {
        expect(chosen(withReady(true, false, true))).toEqual({ matching: 2, pods: ["hot-deals-1", "hot-deals-3"] });
        expect(chosen(withReady(true, false, true, false), false, { kind: "share", share: 0.5 }).pods).toHaveLength(1);
    });

    it("is a target if the attack asks for that", () =>
        expect(chosen(withReady(true, false), true)).toEqual({ matching: 2, pods: ["hot-deals-1", "hot-deals-2"] }));

    it("is refused if there is no other, with how many match and how to attack them all the same", () => {
        expect(() => chosen(withReady(false, false))).toThrow(
            inOrder(
                `2 containers match ${hotDeals}, but their pods are not ready`,
                "kubectl --namespace demo get pods",
                "pulumi config set experiment.includeNotReady true",
            ),
        );
        expect(() => chosen(withReady(false))).toThrow(/^1 container matches .*, but its pod is not ready/);
    });

    it("is a peer all the same: its address is what is cut off", () => {
        const peers = "k8s.deployment=toys-bestseller";
        const found = [container("hot-deals", 1), { ...container("toys-bestseller", 6), ready: false }];
        const [{ peers: chosen }] = chooseForAll(found, {
            attacks: [{ name: "blackhole", target: hotDeals, radius: all, peers }],
        }) as [Chosen];
        expect(chosen).toEqual([expect.not.objectContaining({ ready: false })]);
        expect(chosen![0]!.pod).toBe("toys-bestseller-6");
    });
});

describe("a kill", () => {
    const kills = (target: string, ...found: Discovered[]) =>
        chooseForAll(found, { attacks: [{ name: "kill", target, radius: all, deletesPods: true }] })[0]!;
    const bare = { ...container("alone", 8), bare: true as const };
    const ofJob = container("once", 9);
    const job: Discovered = { ...ofJob, attributes: { "k8s.namespace": "demo", "k8s.job": "once" } };
    const demo = "k8s.namespace=demo";

    it("leaves out pods that nothing would replace, and those of Jobs that its target does not name", () => {
        const { matching, targets } = kills(demo, container("gateway", 5), bare, job);
        expect([matching, targets.map(({ pod }) => pod)]).toEqual([1, ["gateway-5"]]);
        expect(targets[0]).not.toHaveProperty("bare");
        expect(kills("k8s.job=once", job).targets).toHaveLength(1);
    });

    it("is refused if there are no others, with the reason and what is allowed", () => {
        expect(() => kills(demo, bare)).toThrow(
            /^1 container matches .*, but its pod is without a controller, and .* not come back.*Allowed: pods of a/,
        );
        expect(() => kills(demo, bare, job)).toThrow(
            /^2 containers match .* out: 1 without a controller, 1 of a Job\. .* backoffLimit\. .* k8s\.job=NAME$/,
        );
    });

    it("is the only attack that leaves them out", () => {
        const attack = { name: "blackhole", target: demo, radius: all };
        expect(chooseForAll([bare, job], { attacks: [attack] })[0]!.targets).toHaveLength(2);
    });
});

describe("the peers of an attack", () => {
    const attack = (peers: string): TargetRequest => ({
        name: "blackhole",
        target: "k8s.deployment=gateway",
        radius: { kind: "all" },
        peers,
    });
    const peersOf = (peers: string) =>
        chooseForAll(discovered, { attacks: [attack(peers)] })[0]!.peers!.map(({ pod }) => pod);

    it("are all matching pods except the targets themselves", () =>
        expect(peersOf("k8s.namespace=demo,k8s.deployment!=hot-deals")).toEqual(["toys-bestseller-6"]));

    it("must exist: otherwise the experiment is rejected with a list of what there is", () => {
        expect(() => peersOf("k8s.deployment=gateway")).toThrow(
            /no running container matches the peers k8s\.deployment=gateway.*Workloads that can be attacked:/s,
        );
    });
});

describe("containers that run, and that no experiment attacks", () => {
    const spare = (reason: string, ...containers: Discovered[]) =>
        containers.map((one) => ({ ...one, spared: reason, ready: true }));
    const onHost = spare("on the host's network", container("edge", 8), container("edge", 9));
    const edge = { name: "blackhole", target: "k8s.deployment=edge", radius: all };
    const choosing = (found: Discovered[], spared: Discovered[], attack: TargetRequest = edge) =>
        chooseForAll(found, { attacks: [attack], spared });

    it("are counted in the reason why there is no target", () =>
        expect(() => choosing(discovered, onHost)).toThrow(
            inOrder(
                "2 containers match k8s.deployment=edge, but their pods are on the host's network, and this attack",
                "k8s.deployment=gateway",
            ),
        ));

    it("are counted beside those that are not ready, which can be changed", () => {
        const found = [{ ...container("edge", 5), ready: false }];
        const spared = [...onHost, ...spare("terminating", container("edge", 7))];
        expect(() => choosing(found, spared)).toThrow(
            "4 containers match k8s.deployment=edge, but this attack leaves all their pods out: 1 not ready, " +
                "2 on the host's network, 1 terminating. See why: kubectl",
        );
    });

    it("are named with the Service of a fault", () => {
        const fault = { ...edge, origin: "Service edge" };
        expect(() => choosing([], onHost, fault)).toThrow(/ and the selector of Service edge, but their pods are on /);
    });

    it("are no peers", () => {
        const attack = { ...edge, target: "k8s.deployment=gateway", peers: "k8s.deployment=edge" };
        expect(() => choosing(discovered, onHost, attack)).toThrow(
            "2 containers match the peers k8s.deployment=edge, but their pods are on the host's network",
        );
    });

    it("are no targets where others are", () =>
        expect(choosing([container("edge", 5)], onHost)[0]!.targets.map(({ pod }) => pod)).toEqual(["edge-5"]));
});

it("a target that matches nothing is rejected with a list of what there is", () => {
    const bare: Discovered = { ...container("alone", 8), bare: true, attributes: { "k8s.namespace": "demo" } };
    expect(() => choose([bare], "k8s.job=x", { kind: "all" })).toThrow(
        "k8s.pod.name=alone-8,k8s.namespace=demo  (1 container)",
    );
    const settings = "experiment.";
    expect(() => choose([bare], "k8s.job=x", { kind: "all" }, { settings })).toThrow("no setting does");
    expect(() => choose([bare, ...discovered], "k8s.job=x", { kind: "all" }, { settings })).not.toThrow("pod.name");
    expect(() => choose(discovered, "k8s.deployment=hot-deal", { kind: "count", containers: 1 })).toThrow(
        inOrder(
            "no running container matches k8s.deployment=hot-deal",
            "k8s.deployment=hot-deals,k8s.namespace=demo  (4 containers)",
        ),
    );
});
