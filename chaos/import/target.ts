import { type AttributeExpression, nodeLabelPrefix, topologyLabels } from "../targets/attributes";
import type { Fields } from "./fields";

export interface Condition {
    key: string;
    /** One of them; or any, so that the attribute exists. */
    values: readonly string[] | "any";
    /** None of them, or no such attribute. */
    negated?: true;
}

/** The attribute that a label of nodes is. */
export const attributeOfNode = (label: string): string =>
    Object.entries(topologyLabels).find(([, known]) => known === label)?.[0] ?? nodeLabelPrefix + label;

/** What an attribute expression has no way to write in a key or a value. */
const unwritable = /[,|*=!]|^\s|\s$/;

const inNamespace = ({ key }: Condition) => key === "k8s.namespace";

/**
 * The target that some conditions describe, with its namespace last. What it cannot say is refused.
 *
 * @param named the namespace, if the conditions name none
 */
export function targetOf(
    selector: Fields,
    conditions: readonly Condition[],
    named: string | undefined,
): { target: AttributeExpression; namespace: string } | undefined {
    for (const { key, values } of conditions) {
        if (values.length === 0) selector.refuse(`${key} has no value`);
        if ([key, ...(values === "any" ? [] : values)].some((text) => unwritable.test(text)))
            selector.refuse(`${key} or its value has one of , | * = ! or a space at an end: no target can say that`);
    }
    const namespaces = new Set(
        conditions.filter(inNamespace).flatMap(({ values }) => (values === "any" ? [] : values)),
    );
    const [namespace = named ?? ""] = namespaces;
    if (conditions.some((condition) => inNamespace(condition) && condition.negated))
        return void selector.refuse("excludes a namespace, but all targets are in one: name that");
    if (namespaces.size > 1)
        return void selector.refuse("names several namespaces, but all targets are in one: import one each");
    if (namespace === "") return void selector.refuse("names no namespace: add --namespace NAME");
    const others = conditions.filter((condition) => !inNamespace(condition));
    const written = others.map(
        ({ key, values, negated }) => `${key}${negated ? "!=" : "="}${values === "any" ? "*" : values.join("|")}`,
    );
    return { target: [...written, `k8s.namespace=${namespace}`].join(","), namespace };
}
