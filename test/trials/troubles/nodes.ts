import { labels } from "../../../chaos/cluster/labels";
import { killSecondNode, restoreSecondNode } from "../../../sandbox/test/support/nodes";
import {
    cordon,
    drain,
    firstNodeName,
    livingPods,
    moveHotDeals,
    moveTo,
    secondNodeName,
    uncordon,
} from "../../support/placement";
import type { Run, Trouble } from "../kind";
import { deadlineSeconds, leftoverMs } from "../shop";
import { jobPodOf, toTakeEffectMs } from "./objects";

/** `kubectl` takes a moment to begin, in milliseconds. */
const toBeginMs = 500;

/** The shop is on the first node. The deadline Job will be on the second. */
export async function jobOnSecondNode({ stack, afterwards }: Run): Promise<void> {
    const { cluster, namespace } = stack;
    await moveTo(firstNodeName, cluster, { namespace });
    await stack.untilWhole();
    afterwards(() => uncordon(firstNodeName));
    await cordon(firstNodeName);
}

/** The targets are on the second node. Everything else is on the first, and the deadline Job will be. */
export async function targetsOnSecondNode({ stack, afterwards }: Run): Promise<void> {
    afterwards(() => uncordon(secondNodeName));
    await moveHotDeals(stack);
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
        if (spec!.nodeName !== secondNodeName) throw new Error(`the deadline Job's pod is on ${spec!.nodeName}`);
        await uncordon(firstNodeName);
        afterwards(restoreSecondNode, { undone: true });
        await killSecondNode();
        const saw = `lost ${secondNodeName}`;
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
    await drain(secondNodeName);
    await ended;
    const attacked = await livingPods(stack.cluster, {
        namespace: stack.namespace,
        labelSelector: `app=hot-deals,${labels.target}`,
    });
    return {
        saw: `drained ${secondNodeName}`,
        problems: attacked.map(({ metadata }) => `${metadata!.name}, which was no target, has become one`),
    };
};
