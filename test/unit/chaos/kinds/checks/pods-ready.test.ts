import { beforeEach, describe, expect, it } from "vitest";
import { podsReady } from "../../../../../chaos/kinds/checks/pods-ready";
import { FakeCluster, refuse } from "../../support/fake-cluster";
import { contextOf } from "./support";

let cluster: FakeCluster;
const add = (name: string, ready: boolean, changes: object = {}) => {
    const ownerReferences = [{ kind: "ReplicaSet", name: "set", uid: "set" }];
    cluster.add("Pod", name, {
        metadata: { ownerReferences, ...changes },
        spec: { containers: [{ name: "hot-deals" }] },
        status: {
            phase: "Running",
            podIP: "10.0.0.1",
            conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
        },
    });
};
const ask = (atLeast = 1) =>
    podsReady.probe({ kind: "podsReady", of: "k8s.deployment=hot-deals", atLeast }, contextOf(cluster), 200);

beforeEach(() => {
    cluster = new FakeCluster();
    cluster.add("Namespace", "demo");
    const ownerReferences = [{ kind: "Deployment", name: "hot-deals", uid: "d" }];
    cluster.add("ReplicaSet", "set", { metadata: { uid: "set", ownerReferences } });
});

describe("the podsReady check", () => {
    it("counts ready pods that match, but none that is being deleted", async () => {
        add("a", true);
        add("b", false);
        add("c", true, { deletionTimestamp: "2026-01-01T00:00:00Z" });
        add("d", true, { ownerReferences: [] });
        expect(await ask()).toMatchObject({ good: true });
        expect(await ask(2)).toMatchObject({ good: false, problem: "1 ready (required: at least 2)" });
    });

    it.each<[string, () => unknown]>([
        ["does not answer", () => (cluster.api.all = () => new Promise(() => undefined))],
        ["fails", () => (cluster.intercept = () => refuse(500, "etcd is slow"))],
        ["has no such namespace", () => cluster.remove("Namespace", "demo")],
    ])("knows nothing about the application if the API server %s", async (_, change) => {
        expect(await ask()).not.toHaveProperty("unseen");
        change();
        expect(await ask()).toMatchObject({ good: false, unseen: true });
    });

    it("says which namespace there is none of, and what to do", async () => {
        cluster.remove("Namespace", "demo");
        const problem = expect.stringMatching(/^namespace demo does not exist\. Create it, or name another one/);
        expect(await ask()).toMatchObject({ problem });
    });
});
