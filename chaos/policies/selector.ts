import type { V1LabelSelector, V1LabelSelectorRequirement } from "@kubernetes/client-node";

export type Labels = Readonly<Record<string, string>>;

/** Whether a label selector selects: all its conditions hold. A selector without conditions selects everything. */
export function selects({ matchLabels = {}, matchExpressions = [] }: V1LabelSelector = {}, of: Labels): boolean {
    return (
        Object.entries(matchLabels).every(([key, value]) => of[key] === value) &&
        matchExpressions.every(({ key, operator, values = [] }) => {
            const value = of[key];
            const isAmong = value !== undefined && values.includes(value);
            switch (operator) {
                case "In":
                    return isAmong;
                case "NotIn":
                    return !isAmong;
                case "Exists":
                    return value !== undefined;
                case "DoesNotExist":
                    return value === undefined;
                default:
                    return false;
            }
        })
    );
}

/** A selector with one more condition. */
export const also = (
    { matchLabels, matchExpressions = [] }: V1LabelSelector,
    condition: V1LabelSelectorRequirement,
): V1LabelSelector => ({ ...(matchLabels && { matchLabels }), matchExpressions: [...matchExpressions, condition] });

/** Whether all that a selector selects is surely selected by another, too: it has all its conditions. */
export function isWithin(one: V1LabelSelector, another: V1LabelSelector): boolean {
    const conditions = new Set(conditionsOf(one));
    return conditionsOf(another).every((condition) => conditions.has(condition));
}

export const isSameSelector = (one: V1LabelSelector, another: V1LabelSelector): boolean =>
    isWithin(one, another) && isWithin(another, one);

const conditionsOf = ({ matchLabels = {}, matchExpressions = [] }: V1LabelSelector) => [
    ...Object.entries(matchLabels).map(([key, value]) => JSON.stringify([key, "In", value])),
    ...matchExpressions.map(({ key, operator, values = [] }) => JSON.stringify([key, operator, ...values])),
];
