import { setTimeout as sleep } from "node:timers/promises";
import type { V1Pod } from "../../../chaos/values/kubernetes-types";
import { labels } from "../../../chaos/cluster/labels";
import type { TestStack } from "../../e2e/shop/support";
import type { Trouble } from "../kind";
import { toTakeEffectMs } from "./objects";
import { signalContainer } from "./processes";

async function podWith({ cluster, namespace }: TestStack, label: string): Promise<V1Pod> {
    const { items } = await cluster.core.listNamespacedPod({ namespace, labelSelector: label });
    if (items.length === 0) throw new Error(`no pod has the label ${label}`);
    return items[0]!;
}

const signal = ({ status }: V1Pod, name: NodeJS.Signals) =>
    signalContainer(status!.containerStatuses![0]!.containerID!, name);

/** As a drain of its node does it. */
export const loadDeleted: Trouble = async ({ stack, moment }) => {
    await moment({ afterGrace: true, leaveMs: toTakeEffectMs });
    const name = (await podWith(stack, labels.beside)).metadata!.name!;
    await stack.cluster.core.deleteNamespacedPod({ name, namespace: stack.namespace, gracePeriodSeconds: 0 });
    return { saw: `deleted ${name}` };
};

/** How long nothing is sent, in milliseconds: the load of whole seconds is counted. */
const stoppedMs = 3_000;

/** As a node does it that has too little CPU. */
export const loadStopped: Trouble = async ({ stack, moment, afterwards }) => {
    await moment({ afterGrace: true, leaveMs: stoppedMs });
    const pod = await podWith(stack, labels.beside);
    let isStopped = true;
    const goOn = async () => {
        if (isStopped) signal(pod, "SIGCONT");
        isStopped = false;
    };
    afterwards(goOn);
    signal(pod, "SIGSTOP");
    await sleep(stoppedMs);
    await goOn();
    return { saw: `stopped ${pod.metadata!.name} for ${stoppedMs / 1_000} s` };
};

/** The kubelet starts it again: the new one has counted nothing. */
export const proxyKilled: Trouble = async ({ stack, moment }) => {
    await moment({ leaveMs: 1_500 });
    const pod = await podWith(stack, labels.proxy);
    signal(pod, "SIGKILL");
    return { saw: `killed the process of ${pod.metadata!.name}` };
};
