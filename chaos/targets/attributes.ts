/**
 * An attribute expression describes targets: `k8s.deployment=hot-deals,k8s.namespace=demo`. It names the workload, so
 * it survives restarts. `k8s.pod.name` is for pods without a controller.
 *
 * Conditions are joined by commas and must all hold:
 *
 * | condition       | holds if the attribute                  |
 * |-----------------|-----------------------------------------|
 * | `key=value`     | has that value                          |
 * | `key!=value`    | has another value, or does not exist    |
 * | `key=one\|two`  | has one of the values                   |
 * | `key=start*`    | begins with `start`                     |
 *
 * A label may have an empty value: `k8s.label.tier=`.
 */
export type AttributeExpression = string;

export type Attributes = Readonly<Record<string, string>>;

export interface Condition {
    key: string;
    negated: boolean;
    /** Alternatives; one that ends in `*` is a prefix. */
    values: string[];
}

/** The labels of nodes that have attributes: https://kubernetes.io/docs/reference/labels-annotations-taints/ */
export const topologyLabels = {
    "k8s.zone": "topology.kubernetes.io/zone",
    "k8s.region": "topology.kubernetes.io/region",
} as const;

/** The attributes that discovery provides, besides `k8s.label.<name>` and `k8s.node.label.<name>`. */
const attributeNames = [
    "k8s.cluster-name",
    "k8s.namespace",
    "k8s.deployment",
    "k8s.statefulset",
    "k8s.daemonset",
    "k8s.job",
    "k8s.replicaset",
    "k8s.pod.name",
    "k8s.container.name",
    "container.image",
    "container.id",
    "host.hostname",
    "k8s.node.name",
    "k8s.zone",
    "k8s.region",
] as const;
export const nodeLabelPrefix = "k8s.node.label.";
const labelPrefixes = ["k8s.label.", nodeLabelPrefix];

/** The attribute that the pods of a workload have: `k8s.deployment` for the kind Deployment. */
export const attributeOf = (kind: string) => `k8s.${kind.toLowerCase()}`;

/** Whether only the labels of nodes show an attribute. Pods say the name of their node themselves. */
const isOfNode = (key: string) => key in topologyLabels || key.startsWith(nodeLabelPrefix);

/** The conditions of an expression that only the labels of nodes show. */
export const nodeConditions = (expression: AttributeExpression): Condition[] =>
    parseAttributes(expression).filter(({ key }) => isOfNode(key));

/** An expression without these. */
export const withoutNodeConditions = (expression: AttributeExpression): AttributeExpression =>
    expression
        .split(",")
        .filter((condition) => !isOfNode(parseCondition(condition.trim()).key))
        .join();

/**
 * As `parseAttributes`, of what a person wrote: what nothing can be is a mistake, also behind `!=`, which would match
 * everything.
 *
 * @throws Error that names it
 */
export function checkedAttributes(expression: AttributeExpression): Condition[] {
    const conditions = parseAttributes(expression);
    for (const { key, negated, values } of conditions) {
        const isLabel = isOfNode(key) || key.startsWith("k8s.label.");
        const isAny = key === "k8s.cluster-name" || key.startsWith("container.");
        const possible = isAny ? /(?:)/ : isLabel ? /^[-.\w]*\*?$/ : /^[-.a-z\d]*\*?$/;
        const wrong = /[^-./\w]/.test(key) ? key : values.find((value) => !possible.test(value));
        if (wrong !== undefined)
            throw new Error(
                `"${wrong}" in "${expression}" cannot be; ` +
                    `allowed: ${isLabel ? "letters, digits, _" : "lower-case letters, digits"}, - and .`,
            );
        const same = conditions.filter((one) => one.key === key);
        if (!negated && !values.some((value) => value.endsWith("*") || matches(same, { [key]: value })))
            throw new Error(`"${expression}": the conditions of ${key} exclude each other; leave one out`);
    }
    return conditions;
}

/** @throws Error that names the invalid condition and what is allowed there */
export function parseAttributes(expression: AttributeExpression): Condition[] {
    return expression.split(",").map((condition) => parseCondition(condition.trim()));
}

function parseCondition(text: string): Condition {
    const parts = /^([^=!]+)(!?=)(.*)$/.exec(text);
    if (!parts) throw new Error(`"${text}" is not a condition; write key=value, key!=value, key=one|two or key=start*`);
    const [key, operator, alternatives] = [parts[1]!.trim(), parts[2]!, parts[3]!];
    const known = (attributeNames as readonly string[]).includes(key);
    if (!known && !labelPrefixes.some((prefix) => key.startsWith(prefix) && key.length > prefix.length))
        throw new Error(
            `"${key}" is not an attribute; there are ` +
                [...attributeNames, ...labelPrefixes.map((prefix) => `${prefix}<name>`)].join(", "),
        );
    const values = alternatives.split("|").map((value) => value.trim());
    for (const value of values) {
        const isMissing = value === "" && known;
        if (isMissing || /[=!]/.test(value) || value.slice(0, -1).includes("*"))
            throw new Error(
                `"${value}" in "${text}" is not a value; write a plain value, or a prefix with one * at its end`,
            );
    }
    return { key, negated: operator === "!=", values };
}

export function matches(conditions: readonly Condition[], attributes: Attributes): boolean {
    return conditions.every(({ key, negated, values }) => {
        const found = attributes[key];
        const holds = values.some((wanted) =>
            wanted.endsWith("*") ? found?.startsWith(wanted.slice(0, -1)) : found === wanted,
        );
        return holds !== negated;
    });
}
