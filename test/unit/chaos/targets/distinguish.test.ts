import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { containersOfAll, type Pod } from "../../../../chaos/targets/containers";
import { distinctiveLabel, labelOfPeers } from "../../../../chaos/targets/distinguish";
import { FakeRun } from "../support/fake-run";

const pod = (name: string, labels: Record<string, string>): Pod => ({ metadata: { name, uid: name, labels } });
const labelOf = (pods: Pod[], all: Pod[]) => distinctiveLabel(new Set(pods.map(({ metadata }) => metadata!.uid!)), all);

const gateway = pod("gateway", { app: "gateway", tier: "edge" });
const [one, two] = [pod("database-1", { app: "one", tier: "data" }), pod("database-2", { app: "two", tier: "data" })];

describe("the label that tells pods from all others", () => {
    it("is one that only they have, with the fewest values", () => {
        const all = [gateway, one, two];
        expect(labelOf([one, two], all)).toEqual({ key: "tier", values: ["data"] });
        expect(labelOf([one], all)).toEqual({ key: "app", values: ["one"] });
        expect(labelOf([one, gateway], all)).toEqual({ key: "app", values: ["gateway", "one"] });
    });

    it.each([
        ["another pod has it", { app: "gateway" }],
        ["Cilium ignores it: of a controller", { "pod-template-hash": "x" }],
        ["Cilium ignores it: of Kubernetes", { "statefulset.kubernetes.io/pod-name": "database-1" }],
        ["an experiment has set it, which removes it before the attack", { "chaos-experiments/chosen-by": "c0ffee00" }],
        ["there is no label", {}],
    ])("is missing if %s", (_, labels: Record<string, string>) => {
        const peer = pod("database-1", labels);
        expect(labelOf([peer], [gateway, peer])).toBeUndefined();
    });

    it("may be one of app.kubernetes.io, which Cilium does not ignore", () => {
        const peer = pod("database-1", { "app.kubernetes.io/name": "database" });
        expect(labelOf([peer], [peer])?.key).toBe("app.kubernetes.io/name");
    });

    it("is none if one of the pods lacks it", () => {
        const bare = pod("bare", {});
        expect(labelOf([one, bare], [one, bare])).toBeUndefined();
    });
});

describe("the label of an attack's peers", () => {
    let run: FakeRun;
    beforeEach(() => {
        run = new FakeRun();
        add("database-1", { app: "database" });
    });
    afterEach(() => run.close());

    const add = (name: string, labels: Record<string, string>, fields: object = {}, namespace = "demo") =>
        run.cluster.add(
            "Pod",
            name,
            { metadata: { labels }, spec: { containers: [{ name: "main" }] }, ...fields },
            namespace,
        );
    /** What is found where the peer and these pods were discovered. */
    const found = (...others: string[]) => {
        const pods = ["database-1", ...others].map((name) => run.cluster.get("Pod", name));
        const running = pods.map((one) => ({ ...one, spec: one.spec, status: { podIP: "10.0.0.7" } }));
        const discovered = containersOfAll(running, [], "local");
        return labelOfPeers(run.cluster.api, [discovered[0]!], discovered);
    };
    const label = { key: "app", values: ["database"] };

    it("tells them from all pods of their namespaces, not of others", async () => {
        add("database-1", { app: "database" }, {}, "other");
        expect(await found()).toEqual(label);
    });

    it.each([
        ["hostNetwork", { app: "database" }, { spec: { hostNetwork: true, containers: [] } }],
        ["the label of protected pods", { app: "database", "chaos-experiments/protected": "true" }, {}],
        ["the phase Pending", { app: "database" }, { status: { phase: "Pending" } }],
    ])("is missing if a pod has it that is not discovered, for it has %s", async (_, labels, fields) => {
        add("other", labels, fields);
        expect(await found()).toBeUndefined();
    });

    it("may be that of a pod that has finished", async () => {
        add("backup", { app: "database" }, { status: { phase: "Succeeded" } });
        expect(await found()).toEqual(label);
    });

    it("tells them from the discovered pods if the user may not list all", async () => {
        run.cluster.refuses("list Pod", 403, "forbidden");
        add("other", { app: "database" });
        expect(await found()).toEqual(label);
        expect(await found("other")).toBeUndefined();
    });
});
