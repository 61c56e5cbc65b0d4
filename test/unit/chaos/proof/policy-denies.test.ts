import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { labels } from "../../../../chaos/cluster/labels";
import type { OwnPolicy } from "../../../../chaos/policies/own-policies";
import { exemption } from "../../../../chaos/policies/exemption";
import { knownPolicies } from "../../../../chaos/policies/known";
import { whyDeniedByOthers } from "../../../../chaos/proof/policy-denies";
import { FakeCluster, refuse } from "../support/fake-cluster";
import { settled, startClock, stopClock } from "../support/time";
import { resources } from "../../../../chaos/cluster/resources";

const everybody = { podSelector: {}, policyTypes: ["Ingress", "Egress"] };
const open = { ...everybody, ingress: [{}], egress: [{}] };
const web = { podSelector: { matchLabels: { app: "web" } }, policyTypes: ["Ingress"] };
const allowing = { ...web, ingress: [{ ports: [{ port: 80 }] }] };

let cluster: FakeCluster;
beforeEach(() => {
    stopClock();
    cluster = new FakeCluster();
    pod("web");
});
afterEach(startClock);

function pod(app: string, more: object = {}): void {
    cluster.add("Pod", app, { metadata: { labels: { app, ...more } }, status: { phase: "Running" } });
}

function policy(name: string, spec: object, more: object = {}): void {
    cluster.add("NetworkPolicy", name, { metadata: { uid: name, ...more }, spec });
}

/** What a run of this length sees that begins now. @param changes what is done after some milliseconds */
async function why(windowMs: number, changes: Record<number, () => void> = {}, ownPolicies?: OwnPolicy[]) {
    const items = await cluster.api.all(resources.networkPolicy, { namespace: "demo" });
    const run = { namespace: "demo", run: "slow-1234", policies: knownPolicies(items), ownPolicies };
    const endsAt = Date.now() + windowMs;
    changes[0]?.();
    for (const [ms, change] of Object.entries(changes)) if (ms !== "0") setTimeout(change, Number(ms));
    return settled(whyDeniedByOthers(cluster.api, run, endsAt));
}

it("a NetworkPolicy spoils nothing if it selects only pods on the host's network, to which none applies", async () => {
    cluster.get("Pod", "web").spec = { containers: [], hostNetwork: true };
    expect(await why(0, { 0: () => policy("lockdown", everybody) })).toBeUndefined();
});

describe("a NetworkPolicy spoils a run if it denies traffic and", () => {
    const message = (was: string) =>
        `the NetworkPolicy lockdown was ${was} during the run, and denies traffic besides the attack; ` +
        "see it: kubectl --namespace demo describe networkpolicy lockdown";

    it("was created after the run began", async () => {
        const seen = await why(0, { 0: () => policy("lockdown", everybody) });
        expect(seen).toEqual({ code: "policy-denies", message: message("created") });
    });

    it.each<[string, object]>([
        ["a label of experiments", {}],
        ["such a label, and an owner that is no run's", { ownerReferences: [{ kind: "Deployment", name: "shop" }] }],
    ])("was created with %s before the first look", async (_, more) => {
        const copied = { labels: { [labels.experiment]: "other" }, ...more };
        const seen = await why(0, { 0: () => policy("lockdown", everybody, copied) });
        expect(seen).toEqual({ code: "policy-denies", message: message("created") });
    });

    it("was changed by somebody during the run", async () => {
        policy("lockdown", open);
        const seen = await why(20_000, { 5_000: () => policy("lockdown", everybody) });
        expect(seen).toEqual({ code: "policy-denies", message: message("changed") });
    });

    it.each<[string, object]>([
        ["rules", web],
        ["ports", { ...web, ingress: [{ ports: [{ port: 81 }] }] }],
        ["pods", { ...allowing, podSelector: { matchLabels: { app: "other" } } }],
    ])("allows other %s than before, by which pods can be reached less", async (_, spec) => {
        policy("deny", web);
        policy("lockdown", allowing);
        expect(await why(0, { 0: () => policy("lockdown", spec) })).toMatchObject({ message: message("changed") });
    });

    it("was there for more than 4 s", async () => {
        const remove = () => cluster.remove("NetworkPolicy", "lockdown");
        const seen = await why(20_000, { 5_000: () => policy("lockdown", everybody), 9_100: remove });
        expect(seen).toMatchObject({ message: message("created") });
    });

    it("comes shortly before the end, while the API server had not answered before", async () => {
        const end = Date.now() + 9_000;
        const come = () => {
            policy("lockdown", everybody);
            cluster.intercept = () => void (Date.now() < end && refuse(503, "busy"));
        };
        expect(await why(9_000, { 0: come })).toMatchObject({ message: message("created") });
    });
});

describe("a NetworkPolicy does not spoil a run if it", () => {
    it.each<[string, object, object, object]>([
        ["is as it was", everybody, everybody, {}],
        ["got a label", everybody, everybody, { labels: { team: "a" } }],
        [
            "stops selecting targets for the run",
            allowing,
            { ...allowing, podSelector: { ...web.podSelector, matchExpressions: [exemption("7b1e")] } },
            {},
        ],
        ["allows everything", everybody, open, {}],
        ["selects no pod", everybody, { ...everybody, podSelector: { matchLabels: { app: "other" } } }, {}],
        ["allows more than nothing", web, allowing, {}],
        ["was created again, alone", allowing, allowing, { uid: "another" }],
    ])("%s", async (_, before, spec, more) => {
        policy("other", before);
        expect(await why(0, { 0: () => policy("other", spec, more) })).toBeUndefined();
    });

    it.each<[string, string, object]>([
        ["is the run's", "slow-1234-dns-1", {}],
        [
            "is one of an earlier run, which garbage collection has still to delete",
            "other-5678-admit-witness-1",
            { ownerReferences: [{ kind: "NetworkPolicy", name: "other-5678-job" }] },
        ],
    ])("%s", async (_, name, more) => {
        const own = { labels: { [labels.experiment]: "e" }, ...more };
        expect(await why(0, { 0: () => policy(name, everybody, own) })).toBeUndefined();
    });

    it("was there at the first look of a run that did not note what was there", async () => {
        policy("other", everybody);
        expect(
            await settled(whyDeniedByOthers(cluster.api, { namespace: "demo", run: "slow-1234" }, Date.now())),
        ).toBeUndefined();
    });
});

describe("a policy that the run has made beside another spoils the run", () => {
    const own: OwnPolicy[] = [{ name: "run-admit-1", podSelector: web.podSelector, ways: ["ingress"], adds: true }];
    const message =
        "NetworkPolicies, without which the run's own run-admit-1 would deny its pods nearly all traffic, were " +
        "deleted or changed during the run";

    it("once that is deleted, though no other denies anything", async () => {
        policy("web-in", allowing);
        const seen = await why(20_000, { 5_000: () => cluster.remove("NetworkPolicy", "web-in") }, own);
        expect(seen).toEqual({ code: "policy-denies", message });
    });

    it("if that was deleted and created again as it was: for a moment it was alone", async () => {
        policy("web-in", allowing);
        const seen = await why(20_000, { 5_000: () => policy("web-in", allowing, { uid: "2" }) }, own);
        expect(seen).toEqual({ code: "policy-denies", message });
    });

    it("but not while that stays", async () => {
        policy("web-in", allowing);
        expect(await why(20_000, {}, own)).toBeUndefined();
    });
});

describe("a NetworkPolicy that is deleted", () => {
    const remove = () => cluster.remove("NetworkPolicy", "allow");

    it("spoils a run if others deny what it allowed", async () => {
        policy("deny", { ...everybody, policyTypes: ["Ingress"] });
        policy("allow", allowing);
        expect(await why(20_000, { 5_000: remove })).toEqual({
            code: "policy-denies",
            message:
                "the NetworkPolicy allow was deleted during the run, and others deny what it allowed; " +
                "see them: kubectl --namespace demo get networkpolicies",
        });
    });

    it.each([
        ["spoils it", web, "policy-denies"],
        ["spoils nothing if no other denies that", open, undefined],
    ])("and created again, as it was, %s", async (_, other, code) => {
        policy("other", other);
        policy("allow", allowing);
        const seen = await why(0, { 0: () => policy("allow", allowing, { uid: "another" }) });
        expect(seen?.code).toBe(code);
    });

    it.each<[string, object]>([
        ["no other applies to its pods", { ...everybody, podSelector: { matchLabels: { app: "other" } } }],
        ["others deny in another direction", { ...everybody, policyTypes: ["Egress"] }],
    ])("spoils nothing if %s", async (_, other) => {
        policy("other", other);
        policy("allow", allowing);
        expect(await why(0, { 0: remove })).toBeUndefined();
    });

    it("spoils nothing if it allowed nothing", async () => {
        policy("deny", everybody);
        policy("allow", web);
        expect(await why(0, { 0: remove })).toBeUndefined();
    });
});

describe("a new NetworkPolicy for pods to which earlier ones apply", () => {
    it("only allows more, and spoils nothing, also if it selects a target: see `whyAllowed`", async () => {
        policy("default-deny", everybody);
        pod("web", { [labels.target]: "e.a" });
        expect(await why(0, { 0: () => policy("allow", allowing) })).toBeUndefined();
    });

    it.each<[string, object, string | undefined]>([
        ["takes nothing from pods that the attack isolates", allowing, undefined],
        ["spoils a run if it denies in another direction", everybody, "policy-denies"],
    ])("%s", async (_, spec, code) => {
        const begin = () => {
            policy("slow-1234-blackhole", web, { labels: { [labels.experiment]: "slow" } });
            policy("late", { ...spec, podSelector: web.podSelector });
        };
        expect((await why(0, { 0: begin }))?.code).toBe(code);
    });

    it.each<[string, object, object]>([
        ["denies in another direction", { ...everybody, policyTypes: ["Egress"] }, web],
        ["applies to a pod to which they do not apply", { ...everybody, podSelector: web.podSelector }, everybody],
    ])("spoils a run if it %s", async (_, earlier, spec) => {
        policy("earlier", earlier);
        pod("other");
        expect(await why(0, { 0: () => policy("late", spec) })).toMatchObject({ code: "policy-denies" });
    });
});

it("a cluster that cannot be asked only the last time spoils nothing: the look before is seconds ago", async () => {
    const end = Date.now() + 9_000;
    cluster.intercept = () => void (Date.now() >= end && refuse(503, "busy"));
    expect(await why(9_000)).toBeUndefined();
});

it("a cluster that cannot be asked for a long time is an error", async () => {
    const fall = () => void (cluster.intercept = () => refuse(503, "busy"));
    await expect(why(15_000, { 0: fall })).rejects.toThrow("busy");
});
