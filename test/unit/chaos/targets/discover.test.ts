import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { discover } from "../../../../chaos/targets/discover";
import { FakeRun } from "../support/fake-run";

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
const listed = (pod: string, namespace = "demo") => ({ ...run.target(), namespace, pod, attributes: {} });

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
        run.cluster.get("DaemonSet", "agent", "demo-agent").metadata.deletionTimestamp = new Date();
        expect(await found(agent)).toEqual(["hot-deals-1", "hot-deals-2"]);
    });

    it("leaves out other areas and protected namespaces", async () => {
        run.cluster.add("Namespace", "protected", { metadata: { labels: { "chaos-shop/protected": "true" } } });
        run.addAgent("demo-agent", [listed("a"), listed("b", "protected"), listed("c", "other")]);
        expect(await found(agent)).toEqual(["a", "c"]);
        expect(await found(agent, "other")).toEqual(["c"]);
    });
});
