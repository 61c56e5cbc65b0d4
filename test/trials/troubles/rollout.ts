import { setTimeout as sleep } from "node:timers/promises";
import type { V1DeploymentSpec } from "../../../chaos/values/kubernetes-types";
import { mergePatch } from "../../support/typed-cluster";
import type { TestStack } from "../../e2e/shop/support";
import { until } from "../../support/until";
import type { Trouble } from "../kind";
import { between } from "../random";

/** Waits until a Deployment has replaced its pods. */
export const untilRolledOut = ({ cluster, namespace }: TestStack, name: string): Promise<unknown> =>
    until("the pods are replaced", async () => {
        const { metadata, spec, status } = await cluster.apps.readNamespacedDeployment({ name, namespace });
        const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas];
        const isSeen = status?.observedGeneration === metadata!.generation;
        return isSeen && counts.every((count) => count === spec!.replicas);
    });

/** As `kubectl rollout restart` and `kubectl rollout undo` do it. */
function restart({ cluster, namespace }: TestStack, name: string, at: string | null): Promise<unknown> {
    const annotations = { "kubectl.kubernetes.io/restartedAt": at };
    const spec = { template: { metadata: { annotations } } } as unknown as V1DeploymentSpec;
    return cluster.apps.patchNamespacedDeployment({ name, namespace, body: { spec } }, mergePatch());
}

/** How long the run waits for it, and how much later it may be taken back, in milliseconds. */
const [awaitedMs, takenBackMs] = [3_000, 4_000];

/**
 * As a pipeline does it: rolls out the gateway, for which the run waits. Before that, the cluster has nothing of the
 * run. In some trials, it is taken back once the run has begun.
 */
export const rolledOut: Trouble = async ({ stack, random, signal, afterwards }) => {
    const [waitMs, backMs] = [between(random, 0, awaitedMs), between(random, 0, takenBackMs)];
    const isTakenBack = random() < 0.5;
    const says = (text: string) => {
        const look = () => {
            signal.throwIfAborted();
            return stack.said.includes(text);
        };
        return until(`the update says: ${text}`, look, { timeoutMs: 120_000, pauseMs: 50 });
    };
    await says("Waiting until ");
    await sleep(waitMs, undefined, { signal });
    const traces = await stack.traces();
    const problems = traces.length === 0 ? [] : [`while the run waited, there was ${traces.join(", ")}`];
    afterwards(async () => {
        await restart(stack, "gateway", null);
        await untilRolledOut(stack, "gateway");
    });
    const rolledOutAt = performance.now();
    await restart(stack, "gateway", new Date().toISOString());
    await says("the run begins");
    const begunMs = performance.now() - rolledOutAt;
    const saw = `began ${(begunMs / 1_000).toFixed(1)} s after the rollout`;
    if (!isTakenBack) return { saw, problems };
    await sleep(backMs, undefined, { signal });
    await restart(stack, "gateway", null);
    return { saw: `${saw}, which was taken back after another ${(backMs / 1_000).toFixed(1)} s`, problems };
};
