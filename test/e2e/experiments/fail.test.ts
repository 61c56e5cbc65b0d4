import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { annotations, runLabels } from "../../../chaos/cluster/labels";
import { readUnrunnable } from "../../../chaos/kinds/attacks/fail/image";
import { leaseName } from "../../../chaos/lease/lease-record";
import type { V1Pod } from "../../../chaos/values/kubernetes-types";
import { mergePatch } from "../../support/typed-cluster";
import { until } from "../../support/until";
import { itInAll } from "../which-tests";
import { TestStack } from "../shop/support";

const short = {
    "experiment.enabled": "true",
    "experiment.name": "hot-deals-fails",
    "experiment.duration": "8s",
    "experiment.grace": "2s",
    "experiment.interval": "250ms",
    "experiment.timeout": "3s",
    "experiment.until": "verdict",
};
const endedMs = 5_000;

let stack: TestStack;
beforeAll(async () => {
    stack = await TestStack.open("e2e-fail");
    await stack.up();
    await stack.untilWhole();
});
afterAll(() => stack.close());

const podsOfTarget = async (): Promise<V1Pod[]> => {
    const { namespace, cluster } = stack;
    return (await cluster.core.listNamespacedPod({ namespace, labelSelector: "app=hot-deals" })).items;
};
const onlyPod = async (): Promise<V1Pod> => {
    const [pod, ...others] = await podsOfTarget();
    expect(others).toEqual([]);
    return pod!;
};
const isStopped = ({ spec, status }: V1Pod) =>
    readUnrunnable(spec!.containers[0]!.image!) !== undefined && !status!.containerStatuses![0]!.state?.running;
const untilStopped = () =>
    until("the target is stopped", async () => isStopped(await onlyPod()), { timeoutMs: 120_000 });
/** What must be as it was before: the pod, its image, and who owns that; one restart is added. */
const lasting = ({ metadata, spec }: V1Pod) => [
    metadata!.uid,
    spec!.containers[0]!.image,
    metadata!.annotations?.[annotations.stopped],
    metadata!.managedFields!.map(({ manager }) => manager).includes("chaos-experiments"),
];
const restarts = ({ status }: V1Pod) => status!.containerStatuses![0]!.restartCount;

/** Waits until the target is as it was before a run. */
async function untilRestored(before: V1Pod, timeoutMs = endedMs): Promise<void> {
    await until(
        "the target has its image",
        async () => readUnrunnable((await onlyPod()).spec!.containers[0]!.image!) === undefined,
        {
            timeoutMs,
        },
    );
    await stack.untilWhole();
    const after = await onlyPod();
    expect(lasting(after)).toEqual(lasting(before));
    expect(restarts(after)).toBe(restarts(before) + 1);
}

/** Begins an update that stops the target, and kills it with SIGKILL then. */
async function stopAndKill(settings: Record<string, string>): Promise<void> {
    stack.set({ ...short, ...settings });
    const update = stack.begin();
    try {
        await untilStopped();
    } catch (error) {
        throw new Error(update.printed(), { cause: error });
    } finally {
        await update.kill();
    }
}

async function toNothingLeft(): Promise<void> {
    await stack.cancel();
    await stack.toDefaults();
    expect(await stack.traces()).toEqual([]);
}

it("stops its target, whose pod stays and is not replaced, and starts it again with the verdict", async () => {
    const before = await onlyPod();
    const seen: { pods: number; stopped: boolean }[] = [];
    const over = new AbortController();
    const watching = (async () => {
        for (; !over.signal.aborted; await sleep(250)) {
            const pods = await podsOfTarget();
            seen.push({ pods: pods.length, stopped: pods.some(isStopped) });
        }
    })();
    const { verdict, reason } = await stack.run(short).finally(() => over.abort());
    await watching;
    expect([verdict, reason]).toEqual(["FAILED", expect.stringContaining("/products") as string]);
    expect(Math.max(...seen.map(({ pods }) => pods))).toBe(1);
    expect(seen.filter(({ stopped }) => stopped).length).toBeGreaterThan(20);
    const [attack] = stack.journal().attacks;
    expect(attack).toMatchObject({ targets: [{ pod: before.metadata!.name }], provenAt: expect.any(Number) as number });
    // Its port is part of the proof.
    expect(attack!.leftOut).toBeUndefined();
    await untilRestored(before);
    await toNothingLeft();
});

it("ends when the namespace's lease is deleted, though the update that began it was killed", async () => {
    const before = await onlyPod();
    await stopAndKill({ "experiment.duration": "60s" });
    await stack.cluster.coordination.deleteNamespacedLease({ name: leaseName, namespace: stack.namespace });
    await untilRestored(before);
    await toNothingLeft();
});

itInAll("goes on though the deadline Job's pod is evicted, and ends at its deadline", async () => {
    const before = await onlyPod();
    await stopAndKill({ "experiment.deadline": "60s" });
    const { core } = stack.cluster;
    const ofJob = { namespace: stack.namespace, labelSelector: "batch.kubernetes.io/job-name" };
    const { name, namespace } = (await core.listNamespacedPod(ofJob)).items[0]!.metadata!;
    const place = { name: name!, namespace: namespace! };
    await core.createNamespacedPodEviction({ ...place, body: { metadata: place } });
    await sleep(10_000);
    expect(isStopped(await onlyPod())).toBe(true);
    await untilRestored(before, 70_000);
    await toNothingLeft();
});

itInAll("ends with its object, though the pod has lost all that a run has noted on it", async () => {
    const before = await onlyPod();
    await stopAndKill({ "experiment.duration": "60s" });
    const { core } = stack.cluster;
    const { name } = before.metadata as { name: string };
    const labels = Object.fromEntries(runLabels.map((key) => [key, null]));
    const body = { metadata: { labels, annotations: { [annotations.stopped]: null } } };
    await core.patchNamespacedPod({ name, namespace: stack.namespace, body }, mergePatch());
    const requests = { namespace: stack.namespace, labelSelector: "chaos-experiments/experiment" };
    const request = (await core.listNamespacedConfigMap(requests)).items.find(({ metadata }) =>
        metadata!.name!.endsWith("-fail"),
    );
    await core.deleteNamespacedConfigMap({ name: request!.metadata!.name!, namespace: stack.namespace });
    await untilRestored(before, 10_000);
    await toNothingLeft();
});

itInAll("is undone by the next update, though the one that began it was killed", async () => {
    const before = await onlyPod();
    await stopAndKill({ "experiment.duration": "60s" });
    await toNothingLeft();
    await untilRestored(before);
});
