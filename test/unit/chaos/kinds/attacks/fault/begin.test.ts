import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { labels } from "../../../../../../chaos/cluster/labels";
import type { FaultAttack } from "../../../../../../chaos/kinds/attacks/fault/fault-attack";
import type { FoundService } from "../../../../../../chaos/kinds/attacks/fault/find";
import { awaitReach, beginCounting, readyWithinMs } from "../../../../../../chaos/kinds/attacks/fault/begin";
import { triesForMs, type Tried } from "../../../../../../chaos/kinds/attacks/fault/proxy/protocol";
import type { RunAttack } from "../../../../../../chaos/kinds/attacks/attack-kind";
import { enforcementTimeoutMs } from "../../../../../../chaos/policies/enforcement";
import { FakeCluster } from "../../../support/fake-cluster";
import { settled, startClock, stopClock } from "../../../support/time";

const selector = { app: "api" };
const found: FoundService = {
    service: "api",
    selector,
    ports: [
        { name: "http", port: 80, target: "http", listen: 8080 },
        { name: "more", port: 81, target: "more", listen: 8081, without: ["api-1"] },
    ],
    pods: ["api-1", "api-2"],
};
const attack = {
    namespace: "demo",
    object: "slow-fault",
    attack: { abort: { grpc: 14 } },
    chosen: { found, targets: [{ pod: "api-1" }] },
} as unknown as RunAttack<FaultAttack, FoundService>;

let cluster: FakeCluster;
const ready = { labels: selector, conditions: [{ type: "Ready", status: "True" }] };
const add = (name: string, { labels, conditions } = ready) =>
    cluster.add("Pod", name, { metadata: { labels }, status: { conditions } });

beforeEach(() => {
    stopClock();
    cluster = new FakeCluster();
    cluster.add("Pod", "slow-fault");
    for (const name of found.pods) add(name);
});
afterEach(startClock);

const at = (pod: string, listen: number, saw: Tried["saw"]): Tried => ({ pod, listen, saw });
const all = [at("api-1", 8080, "connected"), at("api-2", 8080, "connected"), at("api-2", 8081, "connected")];

/** What the proxy's log says from some moments on, in milliseconds. */
async function reach(...reports: [ms: number, tried: Tried[]][]) {
    const begun = Date.now();
    const report = (reach: Tried[]) => `\n${JSON.stringify({ reach })}\n${JSON.stringify({ at: 1, pods: {} })}`;
    cluster.intercept = (call) => {
        if (call !== "get Pod/log") return;
        const written = reports.filter(([ms]) => Date.now() - begun >= ms).map(([, tried]) => report(tried));
        cluster.logs.set("slow-fault", written.join(""));
    };
    return settled(awaitReach(attack, cluster.api));
}

it("a fault begins at once if its proxy reaches every pod where the Service leads", async () =>
    expect(await reach([0, all])).toEqual({ leftOut: [] }));

it("it waits for policies and slices that come late", async () =>
    expect(await reach([1_000, []], [5_000, all.slice(1)], [9_000, all])).toEqual({ leftOut: [] }));

it("it waits as long as Cilium may need for a target's new label, and the proxy tries for longer", async () => {
    expect(await reach([0, [at("api-1", 8080, "silent"), ...all.slice(1)]], [40_000, all])).toEqual({ leftOut: [] });
    expect(triesForMs).toBeGreaterThan(readyWithinMs + enforcementTimeoutMs);
});

it("a port that rejects connections is no part of the proof: callers are rejected, too", async () =>
    expect(await reach([0, [...all.slice(0, 2), at("api-2", 8081, "refused")]])).toEqual({
        leftOut: ["api-2 through api:81"],
    }));

it.each<[string, Tried[], string]>([
    ["does not answer the proxy", [all[0]!, at("api-2", 8080, "silent"), all[2]!], "api-2 through api:80"],
    ["is not known to it", all.slice(0, 1), "api-2 through api:80, api-2 through api:81"],
    ["is a target and rejects it", [at("api-1", 8080, "refused"), ...all.slice(1)], "api-1 through api:80"],
])("no fault begins if a pod %s: its callers would lose it", async (_, tried, names) =>
    expect(await reach([0, tried])).toEqual({
        code: "baseline-failed",
        message: `the fault's proxy could not connect to ${names} before the fault began: callers would have lost it`,
    }),
);

it("no fault that reads requests begins if a pod answers in TLS: that is said at once", async () => {
    const begun = performance.now();
    expect(await reach([0, [at("api-1", 8080, "encrypted"), ...all.slice(1)]])).toEqual({
        code: "service-unfit",
        message:
            "a fault cannot be done to Service api: abort with gRPC status UNAVAILABLE answers gRPC in clear text, " +
            'and api-1 through api:80 answers in TLS; allowed: "reset" or "hang", which hit whole connections',
    });
    expect(performance.now() - begun).toBeLessThan(1_000);
});

it.each([
    ["is gone", () => cluster.remove("Pod", "slow-fault")],
    ["has ended", () => cluster.add("Pod", "slow-fault", { status: { phase: "Failed" } })],
])("a proxy that %s is waited for no longer", async (_, end) => {
    cluster.logs.set("slow-fault", "");
    const begun = performance.now();
    setTimeout(end, 3_000);
    expect(await settled(awaitReach(attack, cluster.api))).toMatchObject({
        code: "proxy-failed",
        message: expect.stringMatching(/kubectl .*--namespace demo get events .*=slow-fault$/),
    });
    expect(performance.now() - begun).toBeLessThan(4_000);
});

it("a pod that is gone or not ready any more is missed by nobody", async () => {
    add("api-2", { ...ready, conditions: [] });
    expect(await reach([0, all.slice(0, 1)])).toEqual({ leftOut: ["api-2 through api:80", "api-2 through api:81"] });
});

describe("that answers count is said to the proxy", () => {
    const said = async (more: Partial<FaultAttack>) => {
        cluster.add("Service", "slow-fault", { metadata: { labels: { mine: "kept" } }, spec: { selector } });
        const wanted: FaultAttack = { kind: "fault", service: "api", delay: "1s", ...more };
        await settled(beginCounting({ ...attack, attack: wanted }, cluster.api));
        return cluster.get("Service", "slow-fault").metadata.labels;
    };

    it.each<Partial<FaultAttack>>([{ first: 3 }, { pulse: { on: "1s", off: "1s" } }])(
        "by a label of its Service, which its EndpointSlices have, too: %j",
        async (more) => expect(await said(more)).toEqual({ mine: "kept", [labels.counting]: "true" }),
    );

    it.each<Partial<FaultAttack>>([{ every: 3 }, { percentage: "30%" }])(
        "only if that changes something, unlike %j",
        async (more) => expect(await said(more)).toEqual({ mine: "kept" }),
    );
});
