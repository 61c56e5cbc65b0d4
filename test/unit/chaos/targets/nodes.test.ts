import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { podsReady } from "../../../../chaos/kinds/checks/pods-ready";
import { parseAttributes, withoutNodeConditions } from "../../../../chaos/targets/attributes";
import { chooseForAll } from "../../../../chaos/targets/choose";
import { discover } from "../../../../chaos/targets/discover";
import { namesOfNodes, nodesFor } from "../../../../chaos/targets/nodes";
import { FakeRun } from "../support/fake-run";

const zone = "topology.kubernetes.io/zone";
const region = "topology.kubernetes.io/region";

let run: FakeRun;
beforeEach(() => {
    run = new FakeRun();
    run.cluster.add("Node", "node-a", { metadata: { labels: { [zone]: "a", [region]: "eu", "disk/type": "ssd" } } });
    run.cluster.add("Node", "node-b", { metadata: { labels: { [zone]: "b", [region]: "eu", gpu: "" } } });
    run.cluster.add("Node", "node-c");
    const pods = { "hot-deals-1": "node-a", "hot-deals-2": "node-b", "hot-deals-3": "node-c", "hot-deals-4": "gone" };
    for (const [pod, node] of Object.entries(pods)) {
        if (!run.cluster.names("Pod").includes(pod)) run.addPod(pod, `10.0.0.${pod.at(-1)}`);
        run.cluster.get("Pod", pod).spec.nodeName = node;
    }
});
afterEach(() => run.close());

const lists = () => run.cluster.calls.filter((call) => call === "list Node").length;
const scopeOf = (target: string, peers?: string) => ({
    area: "Global",
    clusterName: "local",
    attacks: [{ target: `${target},k8s.namespace=demo`, attack: { kind: "blackhole", peers } }],
});
async function matching(target: string): Promise<number[]> {
    const scope = scopeOf(target);
    const discovered = await discover(run.cluster.api, scope);
    const radius = { kind: "all" } as const;
    const attacks = scope.attacks.map(({ target }) => ({ name: "blackhole", target, radius }));
    const [chosen] = chooseForAll(discovered, { attacks });
    return chosen!.targets.map(({ pod }) => Number(pod.at(-1))).sort();
}

describe("a target may say on what nodes its pods run:", () => {
    it.each([
        ["k8s.zone=a", [1]],
        ["k8s.zone=a|b", [1, 2]],
        ["k8s.zone!=a", [2, 3, 4]],
        ["k8s.region=eu", [1, 2]],
        ["k8s.region=eu,k8s.zone!=b", [1]],
        ["k8s.node.name=node-b", [2]],
        ["k8s.node.name=node-*", [1, 2, 3]],
        ["k8s.node.label.disk/type=ssd", [1]],
        ["k8s.node.label.gpu=", [2]],
        [`k8s.node.label.${zone}=b`, [2]],
    ])("%s", async (target, expected) => expect(await matching(target)).toEqual(expected));

    it("also if an agent is asked for the containers, and of peers", async () => {
        const attributes = { "k8s.node.name": "node-b", "k8s.namespace": "demo" };
        run.addAgent("demo-agent", [{ ...run.target(), ready: true, attributes }]);
        const scope = {
            ...scopeOf("k8s.deployment=a", "k8s.zone=b"),
            agent: { namespace: "demo-agent", name: "agent" },
        };
        expect((await discover(run.cluster.api, scope))[0]!.attributes).toMatchObject({ "k8s.zone": "b" });
    });
});

describe("the nodes are read", () => {
    it.each([
        ["once, if a target names what their labels say", "k8s.zone=a,k8s.region=eu", 1],
        ["not at all for the name of a node", "k8s.node.name=node-a", 0],
        ["not at all otherwise", "k8s.deployment=hot-deals", 0],
    ])("%s", async (_, target, times) => {
        await matching(target);
        expect(lists()).toBe(times);
    });

    it("and that is not allowed: the error says so", async () => {
        run.cluster.refuses("list Node", 403, "nodes is forbidden");
        await expect(matching("k8s.zone=a")).rejects.toMatchObject({ code: 403 });
    });
});

describe("a target that matches nothing", () => {
    it("is told what the nodes of the containers have", async () => {
        await expect(matching("k8s.zone=c")).rejects.toThrow(
            'The nodes on which such containers run have k8s.zone "a", "b". Workloads that can be attacked:',
        );
        await expect(matching("k8s.node.label.rack=1")).rejects.toThrow(
            "No node on which such a container runs has k8s.node.label.rack. ",
        );
    });

    it("has a misspelled attribute: the error has the right ones", () => {
        expect(() => parseAttributes("k8s.zones=a")).toThrow(/"k8s.zones" is not an attribute; .*k8s.zone, /);
        expect(() => parseAttributes("k8s.node.label.=a")).toThrow("k8s.node.label.<name>");
        expect(() => parseAttributes("k8s.zone=")).toThrow("is not a value");
    });
});

it("a Job that may read no nodes gets their names, and the rest of the target", async () => {
    const target = "k8s.deployment=x,k8s.zone=a|b, k8s.node.label.gpu!=,k8s.namespace=demo";
    const nodes = (await nodesFor(run.cluster.api, [target]))!;
    expect(namesOfNodes(nodes, target)).toEqual(["node-a"]);
    expect(withoutNodeConditions(target)).toBe("k8s.deployment=x,k8s.namespace=demo");
});

it("the check podsReady finds a pod on a node that has just come", async () => {
    const check = { kind: "podsReady", of: "k8s.zone=new", atLeast: 1 } as const;
    const context = { cluster: run.cluster.api, endpoints: undefined as never, defaultNamespace: "demo" };
    const ask = () => podsReady.probe(check, { ...context, clusterName: "local" }, 1_000);
    expect(await ask()).toMatchObject({ good: false });
    run.cluster.add("Node", "node-d", { metadata: { labels: { [zone]: "new" } } });
    run.cluster.get("Pod", "hot-deals-3").spec.nodeName = "node-d";
    expect(await ask()).toMatchObject({ good: true });
    expect(lists()).toBe(2);
});

it("the check podsReady counts by nodes, too, and reads them once in 30 s", async () => {
    const check = { kind: "podsReady", of: "k8s.zone=b", atLeast: 1 } as const;
    const context = { cluster: run.cluster.api, endpoints: undefined as never, defaultNamespace: "demo" };
    for (let index = 0; index < 3; index++)
        expect(await podsReady.probe(check, { ...context, clusterName: "local" }, 1_000)).toMatchObject({ good: true });
    expect(lists()).toBe(1);
    expect(podsReady.rights(check, { defaultNamespace: "demo" })).toContainEqual(
        expect.objectContaining({ resource: "nodes", verbs: ["list"] }),
    );
});
