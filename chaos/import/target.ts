import type { AttributeExpression } from "../targets/attributes";
import type { Fields } from "./fields";

export interface Condition {
    key: string;
    /** One of them. `*` alone: any. */
    values: readonly string[];
    /** None of them, or no such attribute. */
    negated?: true;
}

/** What an attribute expression has no way to write in a value. */
const unwritable = /[,|*=!]|^\s|\s$/;

/**
 * The target that some conditions describe, with its namespace last. What it cannot say is refused.
 *
 * @param named what the file names as its namespace, if the conditions name none
 */
export function targetOf(
    selector: Fields,
    conditions: readonly Condition[],
    named: string | undefined,
): { target: AttributeExpression; namespace: string } | undefined {
    const namespaces = conditions.find(({ key }) => key === "k8s.namespace")?.values ?? [named ?? ""];
    for (const { key, values } of conditions)
        if (values.some((value) => value !== "*" && unwritable.test(value)))
            selector.refuse(`a value of ${key} has one of , | * = ! or a space at its ends: a target cannot say that`);
    const [namespace = ""] = namespaces;
    if (namespaces.length > 1)
        return void selector.refuse("names several namespaces; an experiment has its targets in one: import one each");
    if (namespace === "") return void selector.refuse("names no namespace: add --namespace NAME");
    const others = conditions.filter(({ key }) => key !== "k8s.namespace");
    const written = [...others, { key: "k8s.namespace", values: [namespace], negated: undefined }].map(
        ({ key, values, negated }) => `${key}${negated ? "!=" : "="}${values.join("|")}`,
    );
    return { target: written.join(","), namespace };
}
