import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Plan } from "../../../../chaos/definition/plan";
import { acquireLease } from "../../../../chaos/lease/lease";
import { leaseName } from "../../../../chaos/lease/lease-record";
import { runningExperiments } from "../../../../chaos/lease/running";
import { FakeCluster, refuse } from "../support/fake-cluster";
import { startClock, stopClock } from "../support/time";

const plan = {
    namespace: "shop",
    defaultNamespace: "shop",
    experiment: "hot-deals-blackhole",
    deadlineMs: 600_000,
    attacks: [] as Plan["attacks"],
} as Plan;
let cluster: FakeCluster;

beforeEach(() => {
    stopClock();
    cluster = new FakeCluster();
});
afterEach(startClock);

const running = (own = "demo") => runningExperiments(cluster.api, own);
const addTarget = (pod: string, namespace: string, value: string) =>
    cluster.add("Pod", pod, { metadata: { labels: { "chaos-experiments/target": value } } }, namespace);
const refuseAllNamespaces = () => {
    cluster.intercept = (call) => {
        if (call.startsWith("list all")) refuse(403, "forbidden");
    };
};

describe("what runs now", () => {
    it("is nothing without a lease and targets", async () => {
        cluster.add("Lease", "of-somebody-else", {}, "demo");
        cluster.add("Pod", "gateway-1");
        expect(await running()).toEqual({ running: [], everywhere: true });
    });

    it("is nothing where a run was ended before its lease: by its verdict, or ABORTED", async () => {
        await acquireLease(cluster.api, { stack: "theirs", plan });
        const note = { "chaos-experiments/ended": JSON.stringify({ at: Date.now() }) };
        Object.assign(cluster.get("Lease", leaseName, "shop").metadata.annotations!, note);
        expect(await running()).toEqual({ running: [], everywhere: true });
    });

    it("is said of all namespaces: who, what and until when", async () => {
        await acquireLease(cluster.api, { stack: "theirs", plan });
        addTarget("hot-deals-1", "shop", "hot-deals-blackhole.blackhole");
        addTarget("hot-deals-2", "shop", "hot-deals-blackhole.blackhole-2");
        cluster.add("Pod", "toys-1", {}, "shop");
        expect(await running()).toEqual({
            running: [
                {
                    namespace: "shop",
                    experiment: "hot-deals-blackhole",
                    lease: {
                        holder: "stack theirs (its application is in shop)",
                        endsAt: Date.parse("2026-11-21T10:15:00Z"),
                        endsInMs: 900_000,
                    },
                    targets: [
                        { pod: "hot-deals-1", attack: "blackhole" },
                        { pod: "hot-deals-2", attack: "blackhole-2" },
                    ],
                },
            ],
            everywhere: true,
        });
    });

    it("has no target before the attack", async () => {
        await acquireLease(cluster.api, { stack: "theirs", plan });
        expect((await running()).running).toMatchObject([{ namespace: "shop", targets: [] }]);
    });

    it("leaves an expired lease out, unless pods are still labeled", async () => {
        await acquireLease(cluster.api, { stack: "theirs", plan });
        vi.advanceTimersByTime(900_001);
        expect((await running()).running).toEqual([]);
        addTarget("hot-deals-1", "shop", "hot-deals-blackhole.blackhole");
        expect((await running()).running).toMatchObject([{ lease: { endsAt: Date.now() - 1, endsInMs: 0 } }]);
    });

    it("includes a lease that ends by the API server's clock, not by this machine's", async () => {
        cluster.clockAheadMs = -3_600_000;
        await acquireLease(cluster.api, { stack: "theirs", plan });
        expect((await running()).running).toMatchObject([
            { experiment: "hot-deals-blackhole", lease: { endsInMs: 900_000 } },
        ]);
        cluster.clockAheadMs = 0;
        expect((await running()).running).toEqual([]);
    });

    it("includes labels without a lease, and names their experiment", async () => {
        addTarget("gateway-1", "demo", "my.gateway.dns");
        expect((await running()).running).toEqual([
            {
                namespace: "demo",
                experiment: "my.gateway",
                lease: undefined,
                targets: [{ pod: "gateway-1", attack: "dns" }],
            },
        ]);
    });

    it("is said of the stack's own namespace if the account may not list all", async () => {
        await acquireLease(cluster.api, { stack: "theirs", plan });
        addTarget("hot-deals-1", "shop", "hot-deals-blackhole.blackhole");
        refuseAllNamespaces();
        expect(await running("demo")).toEqual({ running: [], everywhere: false });
        expect(await running("shop")).toMatchObject({
            running: [{ namespace: "shop", lease: {}, targets: [{ pod: "hot-deals-1" }] }],
            everywhere: false,
        });
        expect(cluster.names("Lease")).toEqual([leaseName]);
    });

    it("fails if the cluster does not answer", async () => {
        cluster.intercept = () => {
            throw new Error("connect ECONNREFUSED");
        };
        await expect(running()).rejects.toThrow("ECONNREFUSED");
    });
});
