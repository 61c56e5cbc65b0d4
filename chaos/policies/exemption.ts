import type { V1LabelSelector, V1LabelSelectorRequirement, V1NetworkPolicy } from "@kubernetes/client-node";
import { isDeepStrictEqual } from "node:util";
import { BorrowedSelector, newOwners, type Owner } from "../cluster/field-owners";
import { annotations, labels } from "../cluster/labels";
import type { Restorable } from "../cluster/resources";
import { also, isSameSelector } from "./selector";

/** The line of a `podSelector` by which a policy stops selecting pods under attack. It changes nothing for others. */
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
    const current = policy.spec!.podSelector ?? {};
    const set = selector && also(selector, exemption);
    const isThere = isDeepStrictEqual(current.matchExpressions, set?.matchExpressions);
    const isRuns = isThere && selector !== undefined && !isSetByOthers(policy, set!, owners);
    return podSelector.restoring(policy, isRuns ? { matchExpressions: selector.matchExpressions ?? null } : undefined);
}

const isApply = ({ operation }: { operation?: string }) => operation === "Apply";

const isLine = ({ key, operator }: V1LabelSelectorRequirement) =>
    key === exemption.key && operator === exemption.operator;

const hasLine = ({ matchExpressions = [] }: V1LabelSelector = {}) => matchExpressions.some(isLine);

/** Whether a policy does not select pods that are labeled `attacked`. */
export const isExempting = ({ spec }: V1NetworkPolicy): boolean => hasLine(spec?.podSelector);

/** A policy's `podSelector` as it is without the line, whoever has added that. */
export function withoutLine({ matchLabels, matchExpressions = [] }: V1LabelSelector = {}): V1LabelSelector {
    const others = matchExpressions.filter((one) => !isLine(one));
    return { ...(matchLabels && { matchLabels }), ...(others.length > 0 && { matchExpressions: others }) };
}

/** Whether somebody means the line: has set the whole selector, not only merged other labels into it. */
function isSetByOthers(policy: V1NetworkPolicy, set: V1LabelSelector, owners: readonly Owner[]): boolean {
    const others = newOwners(policy.metadata!, "podSelector", owners);
    const isWhole = isSameSelector(policy.spec!.podSelector ?? {}, set) || others.some(isApply);
    return (others.length > 0 && isWhole) || hasLine(podSelector.appliedIn(policy));
}

export const exemptedPolicy: Restorable = {
    isChanged: podSelector.isNoted,
    runOf: (policy: V1NetworkPolicy) => podSelector.noteOf(policy)?.run,
    next: nextRestoring,
};
