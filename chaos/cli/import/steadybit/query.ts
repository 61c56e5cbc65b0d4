/** Targets: https://docs.steadybit.com/concepts/query-language */
import { Fields, noCounterpart } from "../fields";
import { attributeOfNode, type Condition } from "../target";

const direct = ["namespace", "deployment", "statefulset", "daemonset", "pod.name", "container.name"];
const attributes = new Map([
    ...direct.map((name) => [`k8s.${name}`, `k8s.${name}`] as const),
    ["k8s.node.name", "k8s.node.name"],
    ["host.hostname", "host.hostname"],
    ["container.image", "container.image"],
    // This is the image in the workload's template: see `extcontainer` of extension-kubernetes.
    ["k8s.container.image", "container.image"],
]);

/** A workload of any kind, whose kind another condition may name: see `extcommon` of extension-kubernetes. */
const [ofOwner, ofOwnerKind] = ["k8s.workload-owner", "k8s.workload-type"];

/** Some have other values there: see `mapTarget` of extension-container. */
const differing: Readonly<Record<string, string>> = {
    "host.hostname": "is the name that the host has itself there, and the node's here",
    "container.image":
        "is there as the container runtime names it, such as docker.io/library/nginx:1.29, and here as the pod does",
    [ofOwner]: "is a workload of any kind there, and of one here, by default a Deployment",
};

/**
 * Steadybit calls these labels of a container's node `k8s.label.NAME`, too: see `extcommon` of extension-kubernetes.
 */
const nodeLabels = new Set([
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
]);

function attributeOf(key: string): string | undefined {
    const [, of, label] = /^k8s\.(?:(pod|node)\.)?label\.(.+)$/.exec(key) ?? [];
    if (label === undefined) return attributes.get(key);
    const isOfNode = of === "node" || (of === undefined && nodeLabels.has(label));
    return isOfNode ? attributeOfNode(label) : `k8s.label.${label}`;
}

/** A name, in quotes if it has special characters; then `!=` and a value, `NOT IN` and values, or `IS NOT PRESENT`. */
const comparison =
    /^\s*(?:"([^"]+)"|([\w./-]+))(?:\s*(!?)=\s*([^()]+)|\s+(NOT\s+)?IN\s*\(([^()]+)\)|\s+IS\s+(NOT\s+)?PRESENT)\s*$/i;
const inQuotes = /^\s*(?:"([^"\\]*)"|([\w./:-]+))\s*$/;

/** Undefined if it is not one of these comparisons. */
function compared(part: string): Condition | undefined {
    const [not = ""] = /^\s*NOT\s+/i.exec(part) ?? [];
    const [, quoted, plain, unequal, one, notIn, list, notPresent] = comparison.exec(part.slice(not.length)) ?? [];
    const key = quoted ?? plain;
    const isNegated = Boolean(unequal || notIn || notPresent) !== (not !== "");
    const negated = isNegated ? ({ negated: true } as const) : {};
    const texts = (one === undefined ? list?.split(",") : [one])?.map((text) => inQuotes.exec(text));
    if (key === undefined || texts?.includes(null)) return undefined;
    return { key, ...negated, values: texts?.map((found) => found![1] ?? found![2]!) ?? "any" };
}

/** Which cluster it is does not matter, and so no placeholder of it needs a value. */
const ofCluster = "k8s.cluster-name";
const anyCluster: Condition = { key: ofCluster, values: "any" };
const isOfCluster = /^\s*"?k8s\.cluster-name"?[\s=!](?!.*\sOR\s)/i;

/** To the end of a line, or else a text in quotes, which may look like one. */
const comment = /("[^"]*")|\/\/.*/g;

/** Brackets around all of a query. */
const inBrackets = /^\s*\(([^()]*)\)\s*$/;

export function conditionsIn(radius: Fields): Condition[] {
    const before = radius.remarks.refused.length;
    const found = radius.has("predicate") ? ofPredicate(radius.object("predicate")) : [];
    const written = radius.take("query");
    const query = typeof written === "string" ? written.replace(comment, "$1") : "";
    const parts = query === "" ? [] : query.replace(inBrackets, "$1").split(/\sAND\s/i);
    for (const part of parts) {
        const condition = isOfCluster.test(part)
            ? anyCluster
            : compared(new Fields({ query: part }, radius.remarks, radius.at()).draft("query") ?? "");
        if (condition) found.push(condition);
        else
            radius.refuse(
                "has no counterpart; have one: =, !=, IN, NOT IN, IS PRESENT and IS NOT PRESENT, joined by AND",
                "query",
            );
    }
    const isRead = radius.remarks.refused.length === before && radius.remarks.unset.size === 0;
    if (isRead && found.every(({ key, values }) => key === ofCluster || (key === "k8s.namespace" && values === "any")))
        radius.refuse("selects every target of the cluster: name a namespace, a workload or a label");
    const kinds = found.find(({ key }) => key === ofOwnerKind)?.values ?? ["Deployment"];
    if (kinds.length !== 1) radius.refuse(`${ofOwnerKind} has several kinds, but a target has one: import one each`);
    return found.flatMap(({ key, ...compared }) => {
        const attribute = key === ofOwner ? attributeOf(`k8s.${kinds[0]!.toLowerCase()}`) : attributeOf(key);
        if (key === ofOwnerKind) return [];
        if (differing[key]) radius.note(`${key} ${differing[key]}`);
        if (attribute !== undefined) return [{ key: attribute, ...compared }];
        if (key === ofCluster) radius.note(`${key}: the kubeconfig and its context name the cluster`);
        else radius.refuse(`${key} ${noCounterpart} among the attributes of targets`);
        return [];
    });
}

function ofPredicate(predicate: Fields): Condition[] {
    const isGroup = predicate.has("predicates");
    const operators = { EQUALS: {}, NOT_EQUALS: { negated: true as const } };
    const operator = predicate.word<Partial<Condition>>("operator", isGroup ? { AND: {} } : operators);
    const inner = isGroup ? predicate.objects("predicates").flatMap(ofPredicate) : [];
    const key = isGroup ? undefined : predicate.text("key");
    if (key === ofCluster) predicate.take("values");
    const values = isGroup || key === ofCluster ? [] : predicate.texts("values");
    if (!isGroup && !predicate.has("key")) predicate.refuse("is missing", "key");
    predicate.refuseRest();
    return key === undefined || operator === undefined ? inner : [{ key, ...operator, values }];
}
