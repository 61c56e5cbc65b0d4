import type { V1LabelSelector } from "../values/kubernetes-types";

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
