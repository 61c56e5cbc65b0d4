/** Which pods a chaos hits: https://github.com/chaos-mesh/chaos-mesh/blob/master/api/v1alpha1/selector.go */
import { type Fields, noCounterpart, Refusal } from "../fields";
import type { Draft } from "../imported";
import { attributeOfNode, type Condition, radiusWith, targetOf } from "../target";

type Amount = { count?: number } | { percent?: number };

const modes: Record<string, Amount | ((spec: Fields) => Amount)> = {
    one: { count: 1 },
    all: { percent: 100 },
    fixed: (spec) => ({ count: valueOf(spec, 999_999) }),
    "fixed-percent": (spec) => ({ percent: valueOf(spec, 100) }),
    "random-max-percent": (spec) => {
        const percent = valueOf(spec, 100);
        spec.note("is the most of a share that chance chooses there; here it is always this share", "value");
        return { percent };
    },
};

function valueOf(spec: Fields, most: number): number | undefined {
    if (!spec.has("value")) spec.refuse("is missing", "value");
    return spec.number("value", { least: 1, most });
}

export function radiusOf(spec: Fields): Draft["radius"] {
    const mode = spec.word("mode", modes);
    if (typeof mode === "object") noteUnusedValue(spec);
    const amount = typeof mode === "function" ? mode(spec) : mode;
    return radiusWith(spec, "mode", { ...amount, of: "pods", rounded: "up to at least one since Chaos Mesh 2.2" });
}

/** Of pods of which only all can be meant. @param why completes "one: …" */
export function requireAll(spec: Fields, why: string): void {
    const others = Object.fromEntries(Object.keys(modes).map((mode) => [mode, new Refusal(`${why}: write mode: all`)]));
    spec.word("mode", { ...others, all: "all" });
    noteUnusedValue(spec);
}

function noteUnusedValue(spec: Fields): void {
    if (spec.has("value")) spec.note("Chaos Mesh ignores it beside this mode", "value");
}

const operators: Record<string, (values: string[]) => Pick<Condition, "values" | "negated">> = {
    In: (values) => ({ values }),
    NotIn: (values) => ({ values, negated: true }),
    Exists: () => ({ values: "any" }),
    DoesNotExist: () => ({ values: "any", negated: true }),
};

const fieldsOfPods = new Map([
    ["metadata.name", "k8s.pod.name"],
    ["metadata.namespace", "k8s.namespace"],
    ["spec.nodeName", "k8s.node.name"],
]);

/**
 * @param named the object's namespace, for a selector without one
 * @param containers their names. @default all
 */
export function selected(spec: Fields, named: string | undefined, containers: readonly string[] = []) {
    if (!spec.has("selector") && !spec.isEmpty("selector"))
        return void spec.refuse("is missing: write {} for all pods of the namespace", "selector");
    const selector = spec.object("selector");
    const conditions: Condition[] = [];
    const add = (key: string, values: string[]) => values.length > 0 && conditions.push({ key, values });
    add("k8s.container.name", [...containers]);
    if (selector.has("pods")) {
        const pods = selector.object("pods");
        const namespaces = pods.keys().filter((namespace) => pods.has(namespace));
        if (namespaces.length === 0) for (const namespace of pods.keys()) pods.refuse("names no pod", namespace);
        add("k8s.namespace", namespaces);
        add(
            "k8s.pod.name",
            namespaces.flatMap((namespace) => pods.texts(namespace)),
        );
        selector.noteRest("Chaos Mesh ignores it beside pods");
        return targetOf(selector, conditions, named);
    }
    add("k8s.namespace", selector.texts("namespaces"));
    add("k8s.node.name", selector.texts("nodes"));
    if (selector.has("nodes") && selector.has("nodeSelectors"))
        selector.refuse("is for further nodes beside nodes; conditions here must all hold: omit one", "nodeSelectors");
    for (const [label, value] of selector.textsByKey("nodeSelectors")) add(attributeOfNode(label), [value]);
    for (const [label, value] of selector.textsByKey("labelSelectors")) add(`k8s.label.${label}`, [value]);
    for (const [field, value] of selector.textsByKey("fieldSelectors")) {
        const key = fieldsOfPods.get(field);
        if (key === undefined) selector.refuse(`${field} ${noCounterpart}`, "fieldSelectors");
        else add(key, [value]);
    }
    for (const expression of selector.objects("expressionSelectors")) {
        const key = expression.text("key");
        if (!expression.has("key")) expression.refuse("is missing", "key");
        const values = expression.texts("values");
        const condition = expression.word("operator", operators)?.(values);
        if (condition?.values === "any" && values.length > 0)
            expression.refuse("must be empty with this operator", "values");
        if (condition && key !== undefined) conditions.push({ key: `k8s.label.${key}`, ...condition });
        expression.refuseRest();
    }
    // Only running pods can be targets.
    if (selector.texts("podPhaseSelectors").some((phase) => phase !== "Running"))
        selector.refuse("only running pods can be targets", "podPhaseSelectors");
    if (selector.has("annotationSelectors"))
        selector.refuse(
            "selects by annotations, which are no attributes of targets; nearest: a label",
            "annotationSelectors",
        );
    selector.refuseRest();
    return targetOf(selector, conditions, named);
}
