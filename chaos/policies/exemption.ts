import type { V1LabelSelector, V1LabelSelectorRequirement, V1NetworkPolicy } from "../values/kubernetes-types";
import { BorrowedSelector, newOwners } from "../cluster/field-owners";
import { annotations, labels } from "../cluster/labels";
import type { Restorable } from "../cluster/resources";
import { also, isSameSelector } from "./selector";

/**
 * The line of a `podSelector` by which a policy stops selecting the targets of a run. It changes nothing for other
 * pods, and nobody can give a pod the label before the run: its value is random.
 *
 * @param attacked value of the label on the targets
 */
export const exemption = (attacked: string): V1LabelSelectorRequirement => ({
    key: labels.attacked,
    operator: "NotIn",
    values: [attacked],
});

const podSelector = new BorrowedSelector<V1LabelSelector>("podSelector", annotations.exempting);

/** The next merge patch that adds the line to a policy. Undefined if there is nothing to do. */
export function nextExempting(policy: V1NetworkPolicy, run: string, attacked: string): object | undefined {
    if (podSelector.isNoted(policy)) return podSelector.givingBack(policy);
    const selector = policy.spec!.podSelector ?? {};
    return podSelector.setting(policy, run, selector, also(selector, exemption(attacked)));
}

/**
 * The next merge patch that restores a policy: the run's line goes, and everything else stays as its owner last wrote
 * it. Undefined if there is nothing to restore.
 */
function nextRestoring(policy: V1NetworkPolicy): object | undefined {
    const current = policy.spec!.podSelector ?? {};
    const { matchExpressions = [] } = current;
    const kept = matchExpressions.filter((one) => !(isRunsLine(one) || (isFixedLine(one) && isOfRun(policy))));
    const isRestored = kept.length === matchExpressions.length;
    return podSelector.restoring(
        policy,
        isRestored ? undefined : { matchExpressions: kept.length === 0 ? null : kept },
    );
}

const isRunsLine = ({ key, operator }: V1LabelSelectorRequirement) => key === labels.attacked && operator === "NotIn";

/**
 * The line of version 0.6.0 and before, which some policies always have. Any pod with the label is left out by it.
 */
const fixedLine = { key: labels.attacked, operator: "DoesNotExist" };

const isFixedLine = ({ key, operator }: V1LabelSelectorRequirement) =>
    key === fixedLine.key && operator === fixedLine.operator;

const isLine = (one: V1LabelSelectorRequirement) => isRunsLine(one) || isFixedLine(one);

const hasFixedLine = ({ matchExpressions = [] }: V1LabelSelector = {}) => matchExpressions.some(isFixedLine);

/** Whether a policy does not select pods that are under attack. */
export const isExempting = ({ spec }: V1NetworkPolicy): boolean =>
    spec?.podSelector?.matchExpressions?.some(isLine) ?? false;

/** A policy's `podSelector` as it is without the line, whoever has added that. */
export function withoutLine({ matchLabels, matchExpressions = [] }: V1LabelSelector = {}): V1LabelSelector {
    const others = matchExpressions.filter((one) => !isLine(one));
    return { ...(matchLabels && { matchLabels }), ...(others.length > 0 && { matchExpressions: others }) };
}

const isApply = ({ operation }: { operation?: string }) => operation === "Apply";

/**
 * Whether the fixed line of a policy is a run's of version 0.6.0 or before, and not its owner's: they did not have it
 * before, and have not set the whole selector since, but at most merged other labels into it.
 */
function isOfRun(policy: V1NetworkPolicy): boolean {
    const { selector, owners = [] } = podSelector.noteOf(policy) ?? {};
    if (selector === undefined || hasFixedLine(selector) || hasFixedLine(podSelector.appliedIn(policy))) return false;
    const others = newOwners(policy.metadata!, "podSelector", owners);
    const isWhole = isSameSelector(policy.spec!.podSelector ?? {}, also(selector, fixedLine)) || others.some(isApply);
    return others.length === 0 || !isWhole;
}

export const exemptedPolicy: Restorable = {
    isChanged: podSelector.isNoted,
    runOf: (policy: V1NetworkPolicy) => podSelector.noteOf(policy)?.run,
    next: nextRestoring,
};
