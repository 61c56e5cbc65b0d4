import type { V1LabelSelector, V1LabelSelectorRequirement } from "../values/kubernetes-types";

export { type Labels, selects } from "../cluster/label-selector";

export const also = (
    { matchLabels, matchExpressions = [] }: V1LabelSelector,
    condition: V1LabelSelectorRequirement,
): V1LabelSelector => ({ ...(matchLabels && { matchLabels }), matchExpressions: [...matchExpressions, condition] });

export const both = (one: V1LabelSelector, another: V1LabelSelector): V1LabelSelector => ({
    matchExpressions: [...conditionsOf(one), ...conditionsOf(another)],
});

/** Whether all that a selector selects is surely selected by another, too: its conditions imply all of that. */
export const isWithin = (one: V1LabelSelector, another: V1LabelSelector): boolean =>
    conditionsOf(another).every((needed) => conditionsOf(one).some((condition) => implies(condition, needed)));

export const isSameSelector = (one: V1LabelSelector, another: V1LabelSelector): boolean =>
    isWithin(one, another) && isWithin(another, one);

function implies(one: V1LabelSelectorRequirement, another: V1LabelSelectorRequirement): boolean {
    if (one.key !== another.key || one.operator !== another.operator) return false;
    const [values, needed] = [one.values ?? [], another.values ?? []];
    return one.operator === "NotIn"
        ? needed.every((value) => values.includes(value))
        : values.every((value) => needed.includes(value));
}

const conditionsOf = ({ matchLabels = {}, matchExpressions = [] }: V1LabelSelector): V1LabelSelectorRequirement[] => [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: "In", values: [value] })),
    ...matchExpressions,
];
