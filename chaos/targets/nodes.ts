import type { Cluster } from "../cluster/client";
import { otherResources, type Right, rightsIn } from "../cluster/resources";
import {
    type AttributeExpression,
    type Attributes,
    matches,
    nodeConditions,
    nodeLabelPrefix,
    topologyLabels,
} from "./attributes";

/** What the labels of each node say, by its name. */
export type Nodes = ReadonlyMap<string, Attributes>;

const areAsked = (expressions: readonly AttributeExpression[]) =>
    expressions.some((expression) => nodeConditions(expression).length > 0);

/** The nodes, in one list; undefined if no expression says anything that only their labels show. */
export async function nodesFor(
    cluster: Cluster,
    expressions: readonly AttributeExpression[],
): Promise<Nodes | undefined> {
    if (!areAsked(expressions)) return undefined;
    const items = await cluster.all(otherResources.node);
    return new Map(items.map(({ metadata }) => [metadata!.name!, attributesOf(metadata!.labels)]));
}

/** How long what was read of nodes serves checks, in ms: their labels hardly change, and a list may have thousands. */
const recentMs = 30_000;
const recent = new WeakMap<Cluster, { at: number; nodes: Nodes; asked: ReadonlySet<string> }>();

/**
 * As `nodesFor`, for what asks every second.
 *
 * @param asked names of nodes on which pods run. With one that was not asked for before, the list is read again: the
 *   node may be new. One that is gone is in no list
 */
export async function recentNodesFor(
    cluster: Cluster,
    expressions: readonly AttributeExpression[],
    asked: readonly string[],
): Promise<Nodes | undefined> {
    const last = recent.get(cluster);
    const isKnown = (name: string) => last!.nodes.has(name) || last!.asked.has(name);
    if (last && performance.now() - last.at < recentMs && asked.every(isKnown)) return last.nodes;
    const at = performance.now();
    const nodes = await nodesFor(cluster, expressions);
    if (nodes) recent.set(cluster, { at, nodes, asked: new Set(asked) });
    return nodes;
}

/** The rights to read them. Empty if no expression needs them. */
export const rightsToReadNodes = (expressions: readonly AttributeExpression[]): Right[] =>
    areAsked(expressions)
        ? rightsIn()("list", otherResources.node).to("read the labels of nodes that targets name")
        : [];

export function attributesOf(labels: Readonly<Record<string, string>> = {}): Attributes {
    const named = Object.entries(topologyLabels).flatMap(([key, label]) =>
        labels[label] === undefined ? [] : [[key, labels[label]]],
    );
    const all = Object.entries(labels).map(([label, value]) => [`${nodeLabelPrefix}${label}`, value]);
    return Object.fromEntries([...named, ...all]) as Attributes;
}

/** Names of the nodes for which the conditions of an expression on nodes hold. */
export function namesOfNodes(nodes: Nodes, expression: AttributeExpression): string[] {
    const conditions = nodeConditions(expression);
    return [...nodes].flatMap(([name, attributes]) => (matches(conditions, attributes) ? [name] : []));
}

/** Containers with the attributes that the labels of their nodes give. A node that is gone gives none. */
export const onNodes = <T extends { attributes: Attributes }>(
    containers: readonly T[],
    nodes: Nodes = new Map(),
): T[] =>
    containers.map((one) => {
        const node = nodes.get(one.attributes["k8s.node.name"] ?? "");
        return node === undefined ? one : { ...one, attributes: { ...one.attributes, ...node } };
    });
