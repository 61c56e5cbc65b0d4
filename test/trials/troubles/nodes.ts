import { labels } from "../../../chaos/cluster/labels";
import { killSecondNode, restoreSecondNode } from "../../../sandbox/test/support/nodes";
import {
    cordon,
    drain,
    firstNode,
    keepNameServer,
    livingPods,
    moveTo,
    secondNode,
    uncordon,
} from "../../support/placement";
import { until } from "../../support/until";
import type { Run, Trouble } from "../kind";
import { deadlineSeconds, leftoverMs } from "../shop";
import { jobPodOf, toTakeEffectMs } from "./objects";

/** `kubectl` takes a moment to begin, in milliseconds. */
const toBeginMs = 500;

const isWhole = ({ stack }: Run) => until("/products is whole", async () => (await stack.products()).good);

/** The shop is on the first node, with the cluster's name server. The deadline Job will be on the second. */
export async function jobOnSecondNode(run: Run): Promise<void> {
    const { cluster, namespace } = run.stack;
    await keepNameServer(cluster);
    await moveTo(firstNode, cluster, { namespace });
    await isWhole(run);
    run.afterwards(() => uncordon(firstNode));
    await cordon(firstNode);
}

/** The targets are on the second node. Everything else is on the first, and the deadline Job will be. */
export async function targetsOnSecondNode(run: Run): Promise<void> {
    const { cluster, namespace } = run.stack;
    await keepNameServer(cluster);
    await moveTo(firstNode, cluster, { namespace, labelSelector: "app!=hot-deals" });
    await moveTo(secondNode, cluster, { namespace, labelSelector: "app=hot-deals" });
    await isWhole(run);
    run.afterwards(() => uncordon(secondNode));
    await cordon(secondNode);
}

/**
 * Loses the node of the deadline Job. It stays lost until the experiment is undone: by the next update or, without any,
 * at its deadline, by the pod that the Job starts on the other node after a minute.
 */
export const nodeKilled =
    (undoneBy: "update" | "deadline"): Trouble =>
    async ({ stack, moment, afterwards, attackLeft, ended }) => {
        await moment();
        const { spec } = await jobPodOf(stack);
        if (spec!.nodeName !== secondNode) throw new Error(`the deadline Job's pod is on ${spec!.nodeName}`);
        await uncordon(firstNode);
        afterwards(restoreSecondNode, { undone: true });
        await killSecondNode();
        const saw = `lost ${secondNode}`;
        if (undoneBy === "update") return { saw };
        await ended;
        const left = await attackLeft(deadlineSeconds * 1_000 + leftoverMs);
        return {
            saw,
            problems: left.length === 0 ? [] : [`5 s after its deadline, the attack has not ended: ${left.join(", ")}`],
        };
    };

/** What is started in a target's place is no target. */
export const nodeDrained: Trouble = async ({ stack, moment, ended }) => {
    await moment({ leaveMs: toTakeEffectMs + toBeginMs });
    await drain(secondNode);
    await ended;
    const attacked = await livingPods(stack.cluster, {
        namespace: stack.namespace,
        labelSelector: `app=hot-deals,${labels.target}`,
    });
    return {
        saw: `drained ${secondNode}`,
        problems: attacked.map(({ metadata }) => `${metadata!.name}, which was no target, has become one`),
    };
};
