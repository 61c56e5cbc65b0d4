import type { V1Container, V1NetworkPolicy, V1PodSpec } from "../../../chaos/values/kubernetes-types";
import { setTimeout as sleep } from "node:timers/promises";
import { ignoreNotFound, mergePatch } from "../../support/typed-cluster";
import { labels } from "../../../chaos/cluster/labels";
import { deadlineContainer, type KeptState } from "../../../chaos/witness/protocol";
import type { TestStack } from "../../e2e/shop/support";
import { until } from "../../support/until";
import type { Run, Trouble } from "../kind";
import { between } from "../random";
import { jobPodOf, targetOf, toTakeEffectMs } from "./objects";

const attacked = "hot-deals";
/** How soon after others took their policies away everybody is reached again, in milliseconds. */
const openMs = 5_000;
/** How soon the Job has another pod, in milliseconds. */
const replacedMs = 15_000;

/** As `kubectl delete networkpolicies` or a GitOps controller does it: all those that the run has not made. */
export const policiesRemoved: Trouble = async ({ stack, moment, afterwards }) => {
    await moment({ afterGrace: true, leaveMs: toTakeEffectMs });
    const { cluster, namespace } = stack;
    const labelSelector = `!${labels.experiment},!${labels.witness}`;
    const policies = { namespace, labelSelector };
    const { items } = await cluster.networking.listNamespacedNetworkPolicy(policies);
    afterwards(() => Promise.all(items.map((policy) => restore(stack, policy))));
    await cluster.networking.deleteCollectionNamespacedNetworkPolicy(policies);
    // What was connected before, and what the network has not noticed yet, may fail or work at first.
    await sleep(openMs);
    const problems: string[] = [];
    for (let asked = 0; asked < 10; asked++) {
        if (!(await stack.products()).good) problems.push("somebody was cut off after the policies were deleted");
        await sleep(200);
    }
    return { saw: `deleted ${items.length} NetworkPolicies`, problems: [...new Set(problems)] };
};

async function restore({ cluster, namespace }: TestStack, { metadata, spec }: V1NetworkPolicy): Promise<void> {
    const { name, labels: own } = metadata!;
    const matchExpressions = spec!.podSelector?.matchExpressions?.filter(({ key }) => key !== labels.attacked);
    const podSelector = { ...spec!.podSelector, matchExpressions };
    // The run may have created it again.
    await ignoreNotFound(cluster.networking.deleteNamespacedNetworkPolicy({ name: name!, namespace }));
    const body = { metadata: { name, labels: own }, spec: { ...spec!, podSelector } };
    await cluster.networking.createNamespacedNetworkPolicy({ namespace, body });
}

/** As a rolling update or a failing node does it, to the database while the target is kept from it. */
export const peersReplaced: Trouble = async ({ stack, moment }) => {
    await moment({ leaveMs: toTakeEffectMs });
    const { cluster, namespace } = stack;
    const { items } = await cluster.core.listNamespacedPod({ namespace, labelSelector: "app=database" });
    const name = items[0]!.metadata!.name!;
    await cluster.core.deleteNamespacedPod({ name, namespace });
    return { saw: `deleted ${name}` };
};

/** Four times, each as soon as it runs again. The attack lasts until the experiment is disabled. */
export const jobDeletedOften: Trouble = async ({ stack, moment, random }) => {
    await moment();
    const { core } = stack.cluster;
    const waits: number[] = [];
    const problems: string[] = [];
    for (let times = 1; times <= 4; times++) {
        const { metadata } = await jobPodOf(stack);
        const { name, uid } = metadata!;
        await core.deleteNamespacedPod({ name: name!, namespace: stack.namespace, gracePeriodSeconds: 0 });
        const begun = performance.now();
        const isReplaced = async () => {
            const next = await jobPodOf(stack).catch(() => undefined);
            return next?.metadata!.uid !== uid && next?.status?.phase === "Running";
        };
        const what = `the Job has another pod the ${times}. time`;
        const replaced = await until(what, isReplaced, { timeoutMs: replacedMs, pauseMs: 200 }).catch(
            (error: Error) => void problems.push(error.message),
        );
        if (!replaced) break;
        waits.push((performance.now() - begun) / 1_000);
        await sleep(between(random, 0, 2_000));
    }
    return { saw: `it ran again after ${waits.map((wait) => wait.toFixed(1)).join(", ")} s`, problems };
};

const bulk = { count: 20, label: "trials-bulk" };

/**
 * Puts 20 pods of 0.9 MB and 20 NetworkPolicies of 0.2 MB into the namespace, which select nothing and never run. Next
 * to the limits of etcd (1.5 MB) and of annotations (256 KiB).
 */
export async function largeObjects({ stack, afterwards }: Run): Promise<void> {
    const { cluster, namespace } = stack;
    const place = { namespace, labelSelector: bulk.label };
    afterwards(async () => {
        await cluster.networking.deleteCollectionNamespacedNetworkPolicy(place);
        await cluster.core.deleteCollectionNamespacedPod({ ...place, gracePeriodSeconds: 0 });
    });
    const env = Array.from({ length: 900 }, (_, index) => ({ name: `VARIABLE_${index}`, value: "x".repeat(1_000) }));
    const spec = { ...(await admitted(stack, { env })), nodeSelector: { "trials.example/none": "" } };
    for (let index = 0; index < bulk.count; index++) {
        const metadata = { name: `${bulk.label}-${index}`, labels: { [bulk.label]: "" } };
        await cluster.core.createNamespacedPod({ namespace, body: { metadata, spec } });
        await cluster.networking.createNamespacedNetworkPolicy({
            namespace,
            body: {
                metadata: { ...metadata, annotations: { note: "x".repeat(200_000) } },
                spec: { podSelector: { matchLabels: { [bulk.label]: "none" } }, policyTypes: ["Ingress"] },
            },
        });
    }
}

/** A container as the namespace admits it, with the image of the attacked workload's. */
async function admitted({ cluster, namespace }: TestStack, container: Partial<V1Container>): Promise<V1PodSpec> {
    const { items } = await cluster.core.listNamespacedPod({ namespace, labelSelector: `app=${attacked}` });
    const { securityContext, containers } = items[0]!.spec!;
    const { image, securityContext: ofContainer } = containers[0]!;
    return { securityContext, containers: [{ name: "trials", image, securityContext: ofContainer, ...container }] };
}

/** The Job's pod has what it needs among them: it is the first, and was never restarted. */
export const jobSurvives: Trouble = async ({ stack, ended }) => {
    await ended;
    const { cluster, namespace } = stack;
    const labelSelector = "batch.kubernetes.io/job-name";
    const { items } = await cluster.core.listNamespacedPod({ namespace, labelSelector });
    const restarts = items.flatMap(({ status }) => status?.containerStatuses ?? []).map((one) => one.restartCount);
    const isFirst = items.length === 1 && restarts.every((count) => count === 0);
    const saw = `${items.length} pod of the Job, restarted ${restarts.join(", ")} times`;
    return { saw, problems: isFirst ? [] : [saw] };
};

/** A pod with the labels of the Job's, and with its log: it says that the target accepts connections. */
export const witnessForged: Trouble = async ({ stack, moment, afterwards }) => {
    await moment({ leaveMs: toTakeEffectMs });
    const { cluster, namespace } = stack;
    const job = await jobPodOf(stack);
    const target = await cluster.core.readNamespacedPod({ name: await targetOf(stack), namespace });
    const endpoint = `${target.status!.podIP}:${target.spec!.containers[0]!.ports![0]!.containerPort}`;
    const answering: KeptState = "answering";
    const changed = { open: [endpoint, "reference"], [answering]: [endpoint] };
    const program = `
        const begun = Date.now() - 60_000;
        let line = 0;
        setInterval(() => {
            const changed = line === 0 ? ${JSON.stringify(changed)} : {};
            console.log(JSON.stringify({ begun, line: line++, at: Date.now(), changed }));
        }, 500);`;
    const name = `${job.metadata!.name!.slice(0, 50)}-forged`;
    const spec = await admitted(stack, { name: deadlineContainer, command: ["node", "-e", program] });
    // With the label of its controller, the Job would adopt it, and delete it as one too many.
    const { "batch.kubernetes.io/controller-uid": _, "controller-uid": __, ...copied } = job.metadata!.labels!;
    afterwards(() => ignoreNotFound(cluster.core.deleteNamespacedPod({ name, namespace, gracePeriodSeconds: 0 })));
    await cluster.core.createNamespacedPod({
        namespace,
        body: { metadata: { name, labels: copied }, spec },
    });
    return { saw: `${name} said that ${endpoint} is open` };
};

/** How long pods that a Deployment does not want any more take to go: they are not killed, in milliseconds. */
const goingMs = 2_000;
/** Of the experiment, in milliseconds. */
const killedEveryMs = 5_000;

/**
 * As a HorizontalPodAutoscaler does it: the workload whose pods are killed wants fewer. Then those are killed that are
 * left, or no verdict is right.
 */
export const scaledUnderKill: Trouble = async ({ stack, moment, afterwards, ended }) => {
    await moment({ leaveMs: goingMs + 2 * killedEveryMs });
    const { cluster, namespace } = stack;
    const place = { name: attacked, namespace };
    const scale = (replicas: number) =>
        cluster.apps.patchNamespacedDeploymentScale({ ...place, body: { spec: { replicas } } }, mergePatch());
    const before = (await cluster.apps.readNamespacedDeploymentScale(place)).spec!.replicas!;
    afterwards(() => scale(before));
    await scale(1);
    await sleep(goingMs);
    const seen = new Set<string>();
    let isOver = false;
    void ended.then(() => (isOver = true));
    while (!isOver) {
        const { items } = await cluster.core.listNamespacedPod({ namespace, labelSelector: `app=${attacked}` });
        for (const { metadata } of items) if (!metadata!.deletionTimestamp) seen.add(metadata!.uid!);
        await sleep(200);
    }
    const kills = seen.size - 1;
    return { saw: `${kills} pods were killed afterwards`, only: kills > 0 ? undefined : ["INCONCLUSIVE"] };
};
