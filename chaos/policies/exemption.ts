import type { V1LabelSelector, V1NetworkPolicy } from "@kubernetes/client-node";
import { BorrowedSelector, isNewOwners } from "../cluster/field-owners";
import { annotations, labels } from "../cluster/labels";
import type { Restorable } from "../cluster/resources";
import { also, isSameSelector } from "./selector";

/** The line of a policy's `podSelector` by which it stops selecting pods under attack. Others are not concerned. */
export const exemption = { key: labels.attacked, operator: "DoesNotExist" };

const podSelector = new BorrowedSelector<V1LabelSelector>("podSelector", annotations.exempting);

/** The next merge patch that adds the line to a policy. Undefined if there is nothing to do. */
export function nextExempting(policy: V1NetworkPolicy, run: string): object | undefined {
    if (podSelector.isNoted(policy)) return podSelector.givingBack(policy);
    const selector = policy.spec!.podSelector ?? {};
    return podSelector.setting(policy, run, selector, also(selector, exemption));
}

/** The next merge patch that restores a policy. Undefined if there is nothing to restore. */
function nextRestoring(policy: V1NetworkPolicy): object | undefined {
    const { selector, owners = [] } = podSelector.noteOf(policy) ?? {};
    // Somebody may have set the same.
    const isRuns =
        selector !== undefined &&
        !isNewOwners(policy.metadata!, "podSelector", owners) &&
        isSameSelector(policy.spec!.podSelector ?? {}, also(selector, exemption));
    return podSelector.restoring(policy, isRuns ? { matchExpressions: selector.matchExpressions ?? null } : undefined);
}

export const exemptedPolicy: Restorable = {
    isChanged: podSelector.isNoted,
    runOf: (policy: V1NetworkPolicy) => podSelector.noteOf(policy)?.run,
    next: nextRestoring,
};
