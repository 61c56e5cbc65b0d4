import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { KubeObject } from "../../../chaos/values/kubernetes-types";
import { leaseName } from "../../../chaos/lease/lease-record";
import { until } from "../../support/until";
import { programsIn, stressingIn } from "../../trials/troubles/processes";
import { itInAll } from "../which-tests";
import { TestStack } from "../shop/support";

const short = {
    "experiment.enabled": "true",
    "experiment.name": "hot-deals-busy",
    "experiment.duration": "8s",
    "experiment.grace": "1s",
    "experiment.interval": "250ms",
    "experiment.timeout": "5s",
    "experiment.until": "verdict",
};
/** A program ends at once if it is told to, or its connection is closed, and at the latest 10 s after a renewal. */
const longestMs = 12_000;

/** In the sandbox, containers have this machine's cgroups. In v2, the only hierarchy names its controllers. */
const cgroupOfMachine = existsSync("/sys/fs/cgroup/cgroup.controllers") ? 2 : 1;

let stack: TestStack;
beforeAll(async () => {
    stack = await TestStack.open("e2e-stress");
    await stack.up();
    await stack.untilWhole();
});
afterAll(() => stack.close());

/** In the stack's namespace. @param of the processes that count, of a pod */
async function count(of: (pod: KubeObject) => number[]): Promise<number> {
    const { items } = await stack.cluster.core.listNamespacedPod({ namespace: stack.namespace });
    return items.flatMap(of).length;
}
const untilStressed = () =>
    until("a program stresses a pod", async () => (await count(stressingIn)) > 0, { timeoutMs: 120_000 });
const untilNone = (timeoutMs = longestMs) =>
    until("no program is left", async () => (await count(programsIn)) === 0, { timeoutMs });

/** Begins an update that stresses the target, and kills it with SIGKILL then. */
async function stressAndKill(settings: Record<string, string> = {}): Promise<void> {
    stack.set({ ...short, ...settings });
    const update = stack.begin();
    try {
        await untilStressed();
    } catch (error) {
        throw new Error(update.printed(), { cause: error });
    } finally {
        await update.kill();
    }
    expect(await count(stressingIn)).toBeGreaterThan(0);
}

it("stresses its target as its cgroup shows, and no other; nothing is left", async () => {
    const { verdict, reason } = await stack.run(short);
    expect([verdict, reason]).toEqual(["PASSED", expect.stringContaining("100% of") as string]);
    const { usage, targets } = stack.journal().attacks[0]!;
    expect(usage).toMatchObject([
        {
            pod: targets[0]!.pod,
            container: "hot-deals",
            cgroup: cgroupOfMachine,
            limit: { cores: 1, bytes: 2 ** 27 },
        },
    ]);
    const [{ before, under, held, killed }] = usage as [NonNullable<typeof usage>[number]];
    expect(before.cores).toBeLessThan(0.5);
    expect(under.cores).toBeGreaterThan(0.8);
    expect(under.throttled).toBeGreaterThan(before.throttled);
    expect(held).toBeGreaterThan(2 ** 24);
    expect([under.bytes > before.bytes + 0.8 * held!, under.bytes < 2 ** 27, killed]).toEqual([true, true, undefined]);
    await untilNone(2_000);
    await stack.toDefaults();
    expect(await stack.traces()).toEqual([]);
});

it("ends when the namespace's lease is deleted, though the update that began it was killed", async () => {
    await stressAndKill({ "experiment.duration": "60s" });
    await stack.cluster.coordination.deleteNamespacedLease({ name: leaseName, namespace: stack.namespace });
    await untilNone(5_000);
    await stack.cancel();
    await stack.toDefaults();
    expect(await stack.traces()).toEqual([]);
});

itInAll("ends with the deadline Job's pod, whose replacement begins it again, and at its deadline", async () => {
    await stressAndKill({ "experiment.deadline": "60s" });
    const { core } = stack.cluster;
    const ofJob = { namespace: stack.namespace, labelSelector: "batch.kubernetes.io/job-name" };
    const { name, namespace } = (await core.listNamespacedPod(ofJob)).items[0]!.metadata!;
    const place = { name: name!, namespace: namespace! };
    await core.createNamespacedPodEviction({ ...place, body: { metadata: place } });
    await untilNone();
    await untilStressed();
    await untilNone(70_000);
    await stack.cancel();
    await stack.toDefaults();
    expect(await stack.traces()).toEqual([]);
});
