import type { V1NetworkPolicy, V1Pod } from "../../../chaos/values/kubernetes-types";
import { setTimeout as sleep } from "node:timers/promises";
import { askProducts } from "../../../experiments/products";
import { chooseRoute } from "../../../chaos/kinds/checks/route";
import { ignoreNotFound, mergePatch } from "../../support/typed-cluster";
import { annotations, labels, runLabels } from "../../../chaos/cluster/labels";
import { readUnrunnable } from "../../../chaos/kinds/attacks/fail/image";
import { leaseName } from "../../../chaos/lease/lease-record";
import { gatewayOf } from "../../../components/shop/gateway";
import type { TestStack } from "../../e2e/shop/support";
import type { Run, Trouble } from "../kind";
import { programsIn, signalContainer } from "./processes";

/** What a trouble needs before the end of the window, in milliseconds: to take effect, and to be seen. */
export const toTakeEffectMs = 3_000;

export const targetOf = async (stack: TestStack): Promise<string> => (await stack.targets())[0]!.metadata!.name!;

export const targetReplaced: Trouble = async ({ stack, moment }) => {
    await moment({ leaveMs: 1_500 });
    const name = await targetOf(stack);
    await stack.cluster.core.deleteNamespacedPod({ name, namespace: stack.namespace });
    return { saw: `deleted ${name}` };
};

/** As somebody does it who finds a busy process. */
export const programKilled: Trouble = async ({ stack, moment, random }) => {
    await moment({ leaveMs: toTakeEffectMs });
    const [target] = await stack.targets();
    const programs = programsIn(target!);
    if (programs.length === 0) throw new Error(`${target!.metadata!.name} has no program that loads it`);
    const pid = programs[Math.floor(random() * programs.length)]!;
    process.kill(pid, "SIGKILL");
    return { saw: `killed one of ${programs.length} processes` };
};

export const labelRemoved: Trouble = async ({ stack, moment }) => {
    await moment({ leaveMs: toTakeEffectMs });
    const name = await targetOf(stack);
    const body = { metadata: { labels: { [labels.target]: null } } };
    await stack.cluster.core.patchNamespacedPod({ name, namespace: stack.namespace, body }, mergePatch());
    return { saw: `removed the label of ${name}` };
};

/** As somebody does it who wants to stop the run. */
export const leaseDeleted: Trouble = async ({ stack, moment }) => {
    await moment({ leaveMs: toTakeEffectMs });
    await stack.cluster.coordination.deleteNamespacedLease({ name: leaseName, namespace: stack.namespace });
    return { saw: `deleted ${leaseName}` };
};

/** As an edit of the whole pod does it: nothing on it says any more that it is attacked. */
export const notesRemoved: Trouble = async ({ stack, moment }) => {
    await moment({ leaveMs: toTakeEffectMs });
    const name = await targetOf(stack);
    const without = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, null]));
    const metadata = { labels: without(runLabels), annotations: without(Object.values(annotations)) };
    await stack.cluster.core.patchNamespacedPod({ name, namespace: stack.namespace, body: { metadata } }, mergePatch());
    return { saw: `removed the labels and notes of ${name}` };
};

/** As somebody does it who finds a container that does not run. */
export const imageSet: Trouble = async ({ stack, moment }) => {
    await moment({ leaveMs: toTakeEffectMs });
    const name = await targetOf(stack);
    const place = { name, namespace: stack.namespace };
    const { spec } = await stack.cluster.core.readNamespacedPod(place);
    const containers = spec!.containers.map((one) => ({ ...one, image: readUnrunnable(one.image!)!.before }));
    await stack.cluster.core.patchNamespacedPod({ ...place, body: { spec: { containers } } }, mergePatch());
    return { saw: `gave the containers of ${name} their images` };
};

/** The pod of the deadline Job that runs. One that has failed stays beside it. */
export async function jobPodOf({ cluster, namespace }: TestStack): Promise<V1Pod> {
    const labelSelector = "batch.kubernetes.io/job-name";
    const { items } = await cluster.core.listNamespacedPod({ namespace, labelSelector });
    return items.find(({ status }) => status?.phase === "Running") ?? items[0]!;
}

/** How long the policy is gone. */
const liftedMs = 1_000;
/** A network that drops may answer late, when TCP sends again. */
const afterglowMs = 500;

/** If `/products` was answered meanwhile, the attack did lapse, and no definite verdict is right. */
export const policyLifted: Trouble = async ({ stack, moment, signal }) => {
    await moment({ leaveMs: toTakeEffectMs });
    const { cluster, namespace } = stack;
    const { networking } = cluster;
    const { metadata, spec } = (await stack.attackPolicies())[0]!;
    const { name, labels: own, annotations } = metadata!;
    const again: V1NetworkPolicy = { metadata: { name, labels: own, annotations }, spec };
    const asking = goodAnswers({ stack, signal }, liftedMs + afterglowMs);
    await networking.deleteNamespacedNetworkPolicy({ name: name!, namespace });
    await sleep(liftedMs);
    await networking.createNamespacedNetworkPolicy({ namespace, body: again });
    const good = await asking;
    return { saw: `${good} good answers meanwhile`, only: good > 0 ? ["INCONCLUSIVE"] : undefined };
};

/** Asks `/products` again and again, without waiting for answers. @returns the number of good ones */
async function goodAnswers({ stack, signal }: Pick<Run, "stack" | "signal">, forMs: number): Promise<number> {
    const route = await chooseRoute(stack.cluster, gatewayOf(stack.namespace));
    const asked: ReturnType<typeof askProducts>[] = [];
    for (const end = performance.now() + forMs; performance.now() < end && !signal.aborted; await sleep(100))
        asked.push(askProducts(stack.cluster, route, 3_000));
    return (await Promise.all(asked)).filter(({ good }) => good).length;
}

/** NetworkPolicies add up: what one allows, another does not forbid. */
export const allowAllPolicy: Trouble = async ({ stack, moment, afterwards }) => {
    await moment({ leaveMs: toTakeEffectMs });
    const { cluster, namespace } = stack;
    const name = "trials-allow-all";
    const spec = { podSelector: {}, policyTypes: ["Ingress", "Egress"], ingress: [{}], egress: [{}] };
    afterwards(() => ignoreNotFound(cluster.networking.deleteNamespacedNetworkPolicy({ name, namespace })));
    await cluster.networking.createNamespacedNetworkPolicy({ namespace, body: { metadata: { name }, spec } });
    return { saw: `added ${name}` };
};

/** The Job starts another pod; a killed process is started again in the same pod. */
export const witnessKilled: Trouble = async ({ stack, moment, random }) => {
    const byDeleting = random() < 0.5;
    await moment();
    const { cluster, namespace } = stack;
    const { metadata, status } = await jobPodOf(stack);
    const name = metadata!.name!;
    if (byDeleting) await cluster.core.deleteNamespacedPod({ name, namespace, gracePeriodSeconds: 0 });
    else signalContainer(status!.containerStatuses![0]!.containerID!, "SIGKILL");
    return { saw: byDeleting ? `deleted ${name}` : `killed the process of ${name}` };
};
