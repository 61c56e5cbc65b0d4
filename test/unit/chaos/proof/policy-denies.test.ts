import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fieldManager, labels } from "../../../../chaos/cluster/labels";
import { whyDeniedByOthers } from "../../../../chaos/proof/policy-denies";
import { FakeCluster, refuse } from "../support/fake-cluster";
import { settled, startClock, stopClock } from "../support/time";

const began = new Date("2026-11-26T04:00:00Z");
const later = new Date("2026-11-26T04:00:05Z");
const everybody = { podSelector: {}, policyTypes: ["Ingress", "Egress"] };

let cluster: FakeCluster;
beforeEach(() => {
    stopClock();
    cluster = new FakeCluster();
    policy("run-job", { podSelector: { matchLabels: { pass: "x" } } }, began, { labels: { [labels.witness]: "e" } });
    cluster.add("Pod", "web", { metadata: { labels: { app: "web" } }, status: { phase: "Running" } });
});
afterEach(startClock);

/** Who has set some of the spec last, and when. */
const setBy = (manager: string, time: Date, fieldsV1: object = { "f:spec": { "f:ingress": {} } }) => ({
    managedFields: [{ manager, operation: "Update", time, fieldsV1 }],
});

function policy(name: string, spec: object, creationTimestamp: Date, more: object = {}): void {
    cluster.add("NetworkPolicy", name, { metadata: { creationTimestamp, ...more }, spec });
}

/** @param windowMs how long the run lasts */
const why = (windowMs = 0) =>
    settled(whyDeniedByOthers(cluster.api, { namespace: "demo", runName: "run" }, Date.now() + windowMs));

describe("a NetworkPolicy spoils a run if it denies traffic and", () => {
    const message =
        "the NetworkPolicy lockdown was created or changed during the run, and denies traffic besides the attack; " +
        "see it: kubectl --namespace demo describe networkpolicy lockdown";

    it("was created after the run began", async () => {
        policy("lockdown", everybody, later);
        expect(await why()).toEqual({ code: "policy-denies", message });
    });

    it("was changed by somebody during the run", async () => {
        policy("lockdown", { ...everybody, ingress: [{}], egress: [{}] }, began, setBy("kubectl", began));
        setTimeout(() => policy("lockdown", everybody, began, setBy("kubectl-edit", later)), 5_000);
        expect(await why(20_000)).toMatchObject({ message });
    });

    it("was changed by somebody after the run began, before the attack was proven", async () => {
        policy("lockdown", everybody, new Date(0), setBy("kubectl-edit", later));
        expect(await why()).toMatchObject({ message });
    });

    it("was there for more than 4 s", async () => {
        setTimeout(() => policy("lockdown", everybody, later), 5_000);
        setTimeout(() => cluster.remove("NetworkPolicy", "lockdown"), 9_100);
        expect(await why(20_000)).toMatchObject({ message });
    });

    it("comes shortly before the end, while the API server had not answered before", async () => {
        cluster.intercept = () => void (Date.now() < end && refuse(503, "busy"));
        const end = Date.now() + 9_000;
        policy("lockdown", everybody, later);
        expect(await why(9_000)).toMatchObject({ message });
    });
});

describe("a NetworkPolicy does not spoil a run if it", () => {
    it.each([
        ["was there before", everybody, began, {}],
        ["was changed before", everybody, new Date(0), setBy("kubectl-edit", began)],
        ["was changed by the run", everybody, new Date(0), setBy(fieldManager, later)],
        ["got another annotation", everybody, new Date(0), setBy("kubectl", later, { "f:metadata": {} })],
        ["allows everything", { ...everybody, ingress: [{}], egress: [{}] }, later, {}],
        ["selects no pod", { ...everybody, podSelector: { matchLabels: { app: "other" } } }, later, {}],
        ["is a run's", everybody, later, { labels: { [labels.experiment]: "e" } }],
    ])("%s", async (_, spec, createdAt, more) => {
        policy("other", spec, createdAt, more);
        expect(await why()).toBeUndefined();
    });
});

describe("a new NetworkPolicy for pods to which earlier ones apply", () => {
    const allowing = { podSelector: { matchLabels: { app: "web" } }, policyTypes: ["Ingress"], ingress: [] };

    it("only allows more, and spoils nothing", async () => {
        policy("default-deny", everybody, new Date(0));
        policy("allow", { ...allowing, ingress: [{ ports: [{ port: 80 }] }] }, later);
        expect(await why()).toBeUndefined();
    });

    it.each<[string, object, object, object]>([
        ["denies in another direction", { ...everybody, policyTypes: ["Egress"] }, allowing, {}],
        [
            "applies to a pod to which they do not apply",
            { ...everybody, podSelector: allowing.podSelector },
            everybody,
            {},
        ],
        ["applies to a target, whose attack it may spoil", everybody, allowing, { [labels.target]: "e.a" }],
    ])("spoils a run if it %s", async (_, earlier, spec, more) => {
        policy("earlier", earlier, new Date(0));
        cluster.add("Pod", "web", { metadata: { labels: { app: "web", ...more } }, status: { phase: "Running" } });
        cluster.add("Pod", "other", { metadata: { labels: { app: "other" } }, status: { phase: "Running" } });
        policy("late", spec, later);
        expect(await why()).toMatchObject({ code: "policy-denies" });
    });
});

it("a cluster that cannot be asked only the last time spoils nothing: the look before is seconds ago", async () => {
    const end = Date.now() + 9_000;
    cluster.intercept = () => void (Date.now() >= end && refuse(503, "busy"));
    expect(await why(9_000)).toBeUndefined();
});

it("a cluster that cannot be asked for a long time is an error", async () => {
    cluster.intercept = () => refuse(503, "busy");
    await expect(why(15_000)).rejects.toThrow("busy");
});
