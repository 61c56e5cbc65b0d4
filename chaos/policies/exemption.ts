import type { V1LabelSelector, V1LabelSelectorRequirement, V1NetworkPolicy } from "../values/kubernetes-types";
import { newOwners } from "../cluster/field-owners";
import { annotations, labels } from "../cluster/labels";
import { appliedIn, type Lent, type Loan, notesIn } from "../cluster/lend";
import { resources } from "../cluster/resources";
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
export const withoutLine = (selector: V1LabelSelector = {}): V1LabelSelector => without(selector, isLine);

function without({ matchLabels, matchExpressions = [] }: V1LabelSelector, isGone: typeof isLine): V1LabelSelector {
    const others = matchExpressions.filter((one) => !isGone(one));
    return { ...(matchLabels && { matchLabels }), ...(others.length > 0 && { matchExpressions: others }) };
}

const notes = notesIn<V1LabelSelector>(annotations.exempting);

const isApply = ({ operation }: { operation?: string }) => operation === "Apply";

/**
 * Whether the fixed line of a policy is a run's of version 0.6.0 or before, and not its owner's: they did not have it
 * before, and have not set the whole selector since, but at most merged other labels into it.
 */
function isOfRun(policy: V1NetworkPolicy): boolean {
    const { before, owners = [] } = notes.read(policy) ?? {};
    const isTheirs = [before, appliedIn<V1LabelSelector>(policy, "podSelector")].some(hasFixedLine);
    if (before === undefined || isTheirs) return false;
    const others = newOwners(policy.metadata!, "podSelector", owners);
    const isWhole = isSameSelector(policy.spec!.podSelector ?? {}, also(before, fixedLine)) || others.some(isApply);
    return others.length === 0 || !isWhole;
}

/** A policy that has the line for a while. Its owner wants all but a run's line as it is. */
export const exemptedPolicy: Loan<V1LabelSelector> = {
    field: "podSelector",
    resource: resources.networkPolicy,
    notes,
    wanted(policy: V1NetworkPolicy) {
        const { podSelector = {} } = policy.spec!;
        return without(podSelector, (one) => isRunsLine(one) || (isFixedLine(one) && isOfRun(policy)));
    },
};

export const exempting = (run: string, attacked: string): Lent<V1LabelSelector> => ({
    run,
    value: (policy) => also(exemptedPolicy.wanted(policy), exemption(attacked)),
});
