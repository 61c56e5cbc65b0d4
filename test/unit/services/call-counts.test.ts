import { expect, it, onTestFinished } from "vitest";
import { callReader, type PodCalls } from "../../../services/gateway/call-counts";
import type { ListedPod } from "../../../services/gateway/pod-list";
import { callDurations, measureCalls } from "../../../services/shared/calls";
import { createLog } from "../../../services/shared/log";
import { createMetrics } from "../../../services/shared/metrics";
import { openScope } from "../../../services/shared/scope";
import { answering } from "../../services/support/backends";
import { ask, openGateway } from "./support/gateway";
import { until } from "../../support/until";

const scope = openScope(() => undefined, createLog("test", "silent"));

/** A pod of a workload whose program has counted these calls to the database. */
async function podThatCounted(workload: string, outcomes: ("answers" | "fails")[]): Promise<ListedPod> {
    const metrics = createMetrics();
    const measure = measureCalls(metrics);
    for (const outcome of outcomes)
        await measure("database", async () => {
            if (outcome === "fails") throw new Error("no database");
        }).catch(() => undefined);
    const text = await metrics.metrics();
    const server = await answering((_request, response) => void response.end(text));
    onTestFinished(() => server.close());
    return {
        name: `${workload}-1`,
        labels: { app: workload },
        annotations: {},
        isReady: true,
        url: new URL(server.url),
    };
}

/** What is known once all these pods were asked. */
async function readingOf(...pods: ListedPod[]): Promise<PodCalls[]> {
    const metrics = createMetrics();
    callDurations(metrics);
    const read = callReader(metrics, ["hot-deals"]);
    let known: PodCalls[] = [];
    await until("a pod has answered", async () => (known = await read(pods, scope)).length > 1);
    return known;
}

it("the gateway reads from each pod how often its calls were answered, and how often they failed", async () => {
    const [own, hotDeals] = await readingOf(await podThatCounted("hot-deals", ["answers", "answers", "fails"]));
    expect(own).toMatchObject({ workload: "gateway", calls: [] });
    const calls = [{ to: "database", answered: 2, failed: 1, seconds: expect.any(Number) }];
    expect(hotDeals).toMatchObject({ workload: "hot-deals", pod: "hot-deals-1", calls });
});

it("the gateway asks pods of no other workloads, and reports none that does not answer", async () => {
    const others = [await podThatCounted("inventory", ["answers"])];
    const gone = { ...(await podThatCounted("hot-deals", [])), name: "gone", url: new URL("http://127.0.0.1:1") };
    const found = await readingOf(...others, gone, await podThatCounted("hot-deals", ["answers"]));
    expect(found.map(({ pod }) => pod).slice(1)).toEqual(["hot-deals-1"]);
});

it("the status has the gateway's own calls, also if the cluster cannot be asked", async () => {
    const { gateway } = await openGateway();
    await ask(gateway, "/products");
    const { calls } = (await ask(gateway, "/status")).body as { calls: PodCalls[] };
    expect(calls).toHaveLength(1);
    expect(calls[0]!.calls.map(({ to, answered }) => [to, answered])).toEqual([
        ["fashion-bestseller", 2],
        ["toys-bestseller", 2],
        ["hot-deals", 2],
    ]);
});
