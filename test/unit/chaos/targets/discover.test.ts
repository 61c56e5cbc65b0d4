import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { discover, discoverSpared } from "../../../../chaos/targets/discover";
import { refuse } from "../support/fake-cluster";
import { FakeRun } from "../support/fake-run";
import { settled } from "../support/time";

let run: FakeRun;
beforeEach(() => {
    run = new FakeRun();
});
afterEach(() => run.close());

const agent = { namespace: "demo-agent", name: "agent" };
const found = async (of?: typeof agent, area = "Global") => {
    const scope = { area, clusterName: "local", agent: of };
    return (await discover(run.cluster.api, scope)).map(({ pod }) => pod);
};
const listed = (pod: string, namespace = "demo") => ({ ...run.target(), namespace, pod, ready: true, attributes: {} });

describe("discovery", () => {
    it("asks the stack's own agents, and no others with the same labels", async () => {
        run.addAgent("a-rogue", [listed("made-up")]);
        run.addAgent("demo-agent", [listed("told-by-the-agent")]);
        run.addAgent("z-rogue", [listed("made-up")]);
        expect(await found(agent)).toEqual(["told-by-the-agent"]);
    });

    it("asks the API server if the stack has no agent, whoever else has one", async () => {
        run.addAgent("a-rogue", [listed("made-up")]);
        expect(await found()).toEqual(["hot-deals-1", "hot-deals-2"]);
    });

    it("asks the API server while the agent is not there, or is being deleted", async () => {
        run.addAgent("a-rogue", [listed("made-up")]);
        expect(await found(agent)).toEqual(["hot-deals-1", "hot-deals-2"]);
        run.addAgent("demo-agent", [listed("told-by-the-agent")]);
        run.cluster.get("DaemonSet", "agent", "demo-agent").metadata.deletionTimestamp = new Date().toISOString();
        expect(await found(agent)).toEqual(["hot-deals-1", "hot-deals-2"]);
    });

    it("leaves out other areas and protected namespaces", async () => {
        run.cluster.add("Namespace", "protected", { metadata: { labels: { "chaos-experiments/protected": "true" } } });
        run.addAgent("demo-agent", [listed("a"), listed("b", "protected"), listed("c", "other")]);
        expect(await found(agent)).toEqual(["a", "c"]);
        expect(await found(agent, "other")).toEqual(["c"]);
    });

    it("does not ask again if the account may not ask the agents: the error names the right", async () => {
        run.addAgent("demo-agent", []);
        let asked = 0;
        run.cluster.proxied = () => {
            asked++;
            const right = 'get resource "pods/proxy" in API group "" in the namespace "demo-agent"';
            return refuse(403, `pods "agent-1" is forbidden: User "ada" cannot ${right}`);
        };
        await expect(found(agent)).rejects.toThrow(
            /^agent demo-agent\/agent-1 cannot be asked: the account "ada" may not get pods\/proxy in namespace/,
        );
        expect(asked).toBe(1);
    });

    it("does not ask again if the account may not read the agents' key", async () => {
        run.addAgent("demo-agent", []);
        run.cluster.refuses("get Secret", 403, "secrets is forbidden");
        await expect(found(agent)).rejects.toMatchObject({ code: 403 });
    });

    it.each<[string, unknown]>([
        ["is not JSON", "<html>Bad gateway</html>"],
        ["is other JSON", { status: "UP" }],
        ["is a list of other things", { targets: ["a"] }],
        ["is nothing", null],
    ])("says which agent's answer %s, and where to look", async (_, answer) => {
        run.addAgent("demo-agent", []);
        run.cluster.proxied = () => answer;
        run.reporting = false;
        await expect(settled(found(agent))).rejects.toThrow(
            "agent demo-agent/agent-1 answers with something else than a list of containers; look at: " +
                "kubectl --namespace demo-agent describe pod agent-1",
        );
    });
});

describe("what discovery leaves out, with the reason:", () => {
    const spared = async () => {
        const { plan, cluster } = run;
        const found = await discoverSpared(cluster.api, { ...plan, attacks: undefined });
        return found.filter(({ pod }) => pod.startsWith("hot-")).map(({ pod, spared: why }) => [pod, why]);
    };
    const change = (fields: object) => Object.assign(run.cluster.get("Pod", "hot-deals-1"), fields);

    it("nothing that may be attacked", async () => expect(await spared()).toEqual([]));

    it("pods on the host's network", async () => {
        change({ spec: { hostNetwork: true, containers: [{ name: "hot-deals" }] } });
        expect(await spared()).toEqual([["hot-deals-1", "on the host's network"]]);
    });

    it("pods that are labeled as protected, or whose namespace is", async () => {
        const metadata = { labels: { "chaos-experiments/protected": "true" } };
        Object.assign(run.cluster.get("Pod", "hot-deals-1").metadata, metadata);
        run.cluster.add("Namespace", "demo", { metadata });
        expect(await spared()).toEqual([
            ["hot-deals-1", "labeled chaos-experiments/protected=true"],
            ["hot-deals-2", "in a namespace labeled chaos-experiments/protected=true"],
        ]);
    });

    it("no pod that has not started", async () => {
        change({ spec: { hostNetwork: true, containers: [{ name: "hot-deals" }] }, status: { phase: "Pending" } });
        expect(await spared()).toEqual([]);
    });

    it("nothing if the account may not look", async () => {
        run.cluster.get("Pod", "hot-deals-1").metadata.deletionTimestamp = new Date().toISOString();
        expect(await spared()).toEqual([["hot-deals-1", "terminating"]]);
        run.cluster.refuses("list all Pod", 403, "forbidden");
        expect(await spared()).toEqual([]);
    });
});
