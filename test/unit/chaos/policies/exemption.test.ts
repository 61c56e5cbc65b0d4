import type { V1LabelSelector, V1NetworkPolicy } from "../../../../chaos/values/kubernetes-types";
import { beforeEach, describe, expect, it } from "vitest";
import { lending, restoring } from "../../../../chaos/cluster/lend";
import { endAttacks } from "../../../../chaos/ending/end";
import { leftOf } from "../../../../chaos/ending/left";
import { exemptedPolicy, exempting } from "../../../../chaos/policies/exemption";
import { exemptFrom } from "../../../../chaos/run/other-policies";
import { FakeCluster, refuse } from "../support/fake-cluster";
import { resources } from "../../../../chaos/cluster/resources";

const attacked = "7b1e";
const line = { key: "chaos-experiments/attacked", operator: "NotIn", values: [attacked] };
/** By which a policy leaves out pods under attack for good, and did so for a run of version 0.6.0. */
const fixedLine = { key: "chaos-experiments/attacked", operator: "DoesNotExist" };
const tier = { key: "tier", operator: "In", values: ["web"] };
const applied = (fields: object, manager = "their-tool") => ({
    manager,
    operation: "Apply",
    apiVersion: "networking.k8s.io/v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:spec": fields },
});
const theirs = applied({ "f:ingress": {}, "f:podSelector": {} });
const ours = applied({ "f:podSelector": {} }, "chaos-experiments");

let cluster: FakeCluster;
beforeEach(() => {
    cluster = new FakeCluster();
});

const restored = () => endAttacks(cluster.api, leftOf({ namespace: "demo", experiment: "any" }));

function add(podSelector: V1LabelSelector): V1NetworkPolicy {
    const metadata = { managedFields: [theirs] };
    return cluster.add("NetworkPolicy", "theirs", { metadata, spec: { podSelector, ingress: [{}] } });
}
const exempted = () => exemptFrom(cluster.api, [stored()], "run", attacked);
const stored = () => cluster.get("NetworkPolicy", "theirs");
/** What the API server notes when this package has changed the selector. */
const takeSelector = () => (stored().metadata.managedFields = [applied({ "f:ingress": {} }), ours] as never);

describe("a policy that is made to let go of pods under attack", () => {
    it.each([{}, { matchLabels: { app: "web" } }, { matchExpressions: [tier] }])(
        "gets one more condition, and has its selector %j and its owner back afterwards",
        async (selector) => {
            const before = structuredClone(add(selector));
            await exempted();
            takeSelector();
            const { matchExpressions } = stored().spec.podSelector;
            expect(matchExpressions).toEqual([...(selector.matchExpressions ?? []), line]);

            expect(await restored()).toBe(1);
            expect(stored().spec).toEqual(before.spec);
            expect(stored().metadata.annotations).toEqual({});
            expect(stored().metadata.managedFields).toEqual(before.metadata!.managedFields);
            expect(await restored()).toBe(0);
        },
    );

    it("still belongs to whom it belonged: their next apply has no conflict", async () => {
        add({});
        await exempted();
        takeSelector();
        await exempted();
        expect(stored().metadata.managedFields).toEqual([theirs]);
        await restored();
        expect(stored().spec.podSelector).toEqual({});
    });

    it("is restored in two steps, and in one if a killed update has done the first", async () => {
        add({});
        await exempted();
        takeSelector();
        const first = restoring(exemptedPolicy, stored())!;
        expect(first).toMatchObject({ spec: { podSelector: { matchExpressions: null } } });
        await cluster.api.patch({ resource: resources.networkPolicy, name: "theirs", namespace: "demo" }, first);
        cluster.calls.length = 0;
        await restored();
        expect(cluster.calls.filter((call) => call.startsWith("patch"))).toHaveLength(1);
        expect(stored().metadata.managedFields).toEqual([theirs]);
    });

    it.each([{ matchLabels: { app: "api" } }, { matchExpressions: [fixedLine] }])(
        "keeps the selector %j that somebody else has set meanwhile, and who that was",
        async (podSelector) => {
            add({});
            await exempted();
            const others = [applied({ "f:podSelector": {} }, "another-tool")];
            stored().metadata.managedFields = others;
            stored().spec.podSelector = podSelector;
            await restored();
            expect(stored().spec.podSelector).toEqual(podSelector);
            expect(stored().metadata.managedFields).toEqual(others);
        },
    );

    it.each<[string, V1LabelSelector]>([
        ["wrote a condition in place of labels", { matchExpressions: [tier] }],
        ["wrote other labels", { matchLabels: { app: "another" } }],
        ["added a label and a condition", { matchLabels: { app: "web", version: "2" }, matchExpressions: [tier] }],
        ["changed nothing of the selector", { matchLabels: { app: "web" } }],
    ])("whose owner %s beside the run's condition keeps that, and loses the condition", async (_, wanted) => {
        add({ matchLabels: { app: "web" } });
        await exempted();
        const byHand = { ...applied({ "f:podSelector": {} }, "kubectl-edit"), operation: "Update" };
        stored().metadata.managedFields = [byHand] as never;
        stored().spec.podSelector = { ...wanted, matchExpressions: [line, ...(wanted.matchExpressions ?? [])] };
        await restored();
        expect(stored().spec.podSelector).toEqual(wanted);
        expect(stored().metadata.annotations).toEqual({});
    });

    describe("by version 0.6.0, whose condition is the same for every run", () => {
        const byEarlier = (matchLabels: Record<string, string>, note: object = {}) => {
            add({ matchLabels, matchExpressions: [fixedLine] });
            const noted = { run: "run", selector: { matchLabels: { app: "web" } }, owners: [], ...note };
            stored().metadata.annotations = { "chaos-experiments/exempting": JSON.stringify(noted) };
        };

        it("loses it", async () => {
            byEarlier({ app: "web" });
            stored().metadata.managedFields = [];
            await restored();
            expect(stored().spec.podSelector).toEqual({ matchLabels: { app: "web" } });
        });

        it("keeps it if its owner has set that: with another selector, or in the manifest", async () => {
            const manifest = { matchLabels: { app: "web" }, matchExpressions: [fixedLine] };
            byEarlier({ app: "web" });
            const lastApplied = JSON.stringify({ spec: { podSelector: manifest } });
            stored().metadata.annotations!["kubectl.kubernetes.io/last-applied-configuration"] = lastApplied;
            await restored();
            expect(stored().spec.podSelector).toEqual(manifest);

            byEarlier({ app: "another" });
            await restored();
            expect(stored().spec.podSelector).toEqual({ ...manifest, matchLabels: { app: "another" } });
        });
    });

    it("gives the selector back to an owner that has set nothing else", () => {
        const only = applied({ "f:podSelector": {} });
        const body = lending(exemptedPolicy, exempting("run", attacked), {
            metadata: { managedFields: [only] as never },
            spec: { podSelector: {} },
        });
        const after = { ...body, metadata: { ...(body as V1NetworkPolicy).metadata, managedFields: [] } };
        expect(restoring(exemptedPolicy, { ...after, spec: { podSelector: {} } })).toMatchObject({
            metadata: { managedFields: [only] },
        });
    });

    it("is read again if somebody changes it at the same moment", async () => {
        add({});
        let conflicts = 1;
        cluster.intercept = (call) => {
            if (call === "patch NetworkPolicy" && conflicts-- > 0) refuse(409, "changed");
        };
        await exempted();
        expect(stored().spec.podSelector).toEqual({ matchExpressions: [line] });
    });

    it.each(["true", "{}", "null"])("keeps its selector if the note is %s, which no run has written", async (note) => {
        add({ matchLabels: { app: "web" } });
        stored().metadata.annotations = { "chaos-experiments/exempting": note };
        await restored();
        expect(stored().metadata.annotations).toEqual({});
        expect(stored().spec.podSelector).toEqual({ matchLabels: { app: "web" } });
    });
});
