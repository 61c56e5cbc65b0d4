import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { steadyState } from "../../../../chaos/run/steady-state";
import { labelTargets } from "../../../../chaos/run/label-targets";
import { refuse } from "../support/fake-cluster";
import { FakeRun, job } from "../support/fake-run";
import { settled } from "../support/time";

let run: FakeRun;
beforeEach(() => {
    run = new FakeRun();
    for (const pod of ["hot-deals-1", "hot-deals-2"]) run.cluster.get("Pod", pod).metadata.labels = { app: "guard" };
    run.cluster.add("Service", "guard", { spec: { selector: { app: "guard" } } });
});
afterEach(() => run.close());

const pods = { apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["pods"] };

const newDeployments = { ...pods, operations: ["CREATE"], apiGroups: ["apps"], resources: ["deployments"] };
const elsewhere = { matchLabels: { app: "elsewhere" } };
const named = "kubernetes.io/metadata.name";
const skipped = { key: "skip", operator: "DoesNotExist" };

function addWebhook(fields: object = {}, kind: "Validating" | "Mutating" = "Validating"): void {
    const clientConfig = { service: { namespace: "demo", name: "guard" } };
    const webhook = { name: "guard.example.com", clientConfig, rules: [pods], ...fields };
    run.cluster.add(`${kind}WebhookConfiguration`, "guard", { webhooks: [webhook] });
}
const step = () => settled(steadyState(run.context, {}));

describe("a run does not begin if a pod that matches the target", () => {
    it.each(["Validating", "Mutating"] as const)("serves a %s webhook that must answer", async (kind) => {
        addWebhook({ failurePolicy: "Fail" }, kind);
        await expect(step()).rejects.toThrow(
            /^ABORTED \(attack-refused\): hot-deals-[12], which matches .*webhook guard\.example\.com through/,
        );
        expect(run.cluster.names("Lease")).toEqual([]);
    });

    it("serves one since the steady state: nothing is labeled", async () => {
        const found = await step();
        addWebhook();
        await expect(settled(labelTargets(run.context, { steadyState: found, deadlineJob: job }))).rejects.toThrow(
            "guard.example.com",
        );
        expect(run.cluster.get("Pod", "hot-deals-1").metadata.labels).toEqual({ app: "guard" });
    });

    it.each([
        ["every resource", { apiGroups: ["*"], resources: ["*/*"] }],
        ["NetworkPolicies", { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"] }],
        ["created pods: the Job's pod may have to be replaced", { operations: ["CREATE"] }],
        ["deleted policies", { operations: ["DELETE"], apiGroups: ["*"], resources: ["networkpolicies"] }],
        ["all operations", { operations: ["*"] }],
        ["objects of namespaces", { scope: "Namespaced" }],
    ])("serves one for %s", async (_, rule) => {
        addWebhook({ rules: [{ ...pods, ...rule }] });
        await expect(step()).rejects.toThrow("guard.example.com");
    });

    it.each([
        ["the namespace", { namespaceSelector: { matchLabels: { team: "shop" } } }],
        ["its name", { namespaceSelector: { matchExpressions: [{ key: named, operator: "In", values: ["demo"] }] } }],
        ["all namespaces", { namespaceSelector: {} }],
        ["its pods", { objectSelector: { matchLabels: { app: "guard" } } }],
        ["pods that are not excluded", { objectSelector: { matchExpressions: [{ ...skipped }] } }],
        [
            "labels that policies may have, too",
            { objectSelector: elsewhere, rules: [{ ...pods, apiGroups: ["*"], resources: ["*"] }] },
        ],
    ])("serves one that selects %s", async (_, fields) => {
        run.cluster.get("Namespace", "demo").metadata.labels = { team: "shop", [named]: "demo" };
        addWebhook(fields);
        await expect(step()).rejects.toThrow("guard.example.com");
    });

    it("serves one that may select the namespace, of which the account may not read the labels", async () => {
        addWebhook({ namespaceSelector: { matchLabels: { team: "other" } } });
        let isAsked = false;
        run.cluster.intercept = (call) => {
            isAsked ||= call.endsWith("WebhookConfiguration");
            if (call === "get Namespace" && isAsked) refuse(403, "forbidden");
        };
        await expect(step()).rejects.toThrow("guard.example.com");
    });
});

describe("a run begins if", () => {
    it.each([
        ["the webhook may fail", { failurePolicy: "Ignore" }],
        ["other pods serve it", { clientConfig: { service: { namespace: "demo", name: "other" } } }],
        ["it is in another namespace", { clientConfig: { service: { namespace: "other", name: "guard" } } }],
        ["it is outside of the cluster", { clientConfig: { url: "https://guard.example.com" } }],
        ["it is asked only about connections into pods", { rules: [{ ...pods, operations: ["CONNECT"] }] }],
        ["it is asked only about new Deployments", { rules: [newDeployments] }],
        ["it is asked only about objects of no namespace", { rules: [{ ...pods, scope: "Cluster" }] }],
        ["it selects other namespaces", { namespaceSelector: { matchLabels: { team: "other" } } }],
        [
            "it leaves this namespace out",
            { namespaceSelector: { matchExpressions: [{ key: named, operator: "NotIn", values: ["demo"] }] } },
        ],
        ["it selects other pods", { objectSelector: elsewhere }],
        ["it is about nothing that undoing touches", { rules: [{ ...pods, resources: ["pods/status", "secrets"] }] }],
    ])("%s", async (_, fields) => {
        run.cluster.add("Service", "other", { spec: { selector: { app: "other" } } });
        run.cluster.get("Namespace", "demo").metadata.labels = { team: "shop", [named]: "demo" };
        addWebhook(fields);
        await expect(step()).resolves.toBeDefined();
    });

    it("the user may not read webhook configurations", async () => {
        addWebhook();
        run.cluster.intercept = (call) => {
            if (call.endsWith("WebhookConfiguration")) refuse(403, "forbidden");
        };
        await expect(step()).resolves.toBeDefined();
    });
});
