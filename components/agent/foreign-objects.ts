import type { V1ObjectMeta } from "../../chaos/values/kubernetes-types";
import type { GuardedObject } from "../cluster/destroying/refusal";
import { annotations as marks, belongsTo, handOver, isMarkedBy, type Owner } from "../cluster/marks";
import type { Reader } from "../cluster/reading";
import type { StackConfiguration } from "../configuration/read";
import {
    guessedKind,
    type KindLookup,
    type PlacedObject,
    placeOf,
    whyNotInstallable,
    withKindsIn,
} from "../manifest/kinds";
import { type ManifestObject, readObjects } from "../manifest/read";
import { setCommand } from "../pulumi-command";
import { clusterWide } from "./builtin";

export interface ManifestOwner {
    /** The setting that the objects come from, and its value without secrets. */
    source: string;
    /** How to do without the objects, in a sentence. */
    instead: string;
    owner: Owner;
    /** The kubeconfig context, for commands. */
    context: string;
}

/**
 * Where the cluster has, or will have, the objects of a manifest.
 *
 * @param namespace for objects that name none
 * @throws Error that lists the objects whose kind the cluster does not know, or does not keep
 */
export async function placesOf(
    objects: readonly ManifestObject[],
    { source, namespace }: Pick<ManifestOwner, "source"> & { namespace: string },
    lookUp: KindLookup,
): Promise<PlacedObject[]> {
    const withOwn = withKindsIn(objects, lookUp);
    const looked = await Promise.all(
        objects.map(async (object) => ({ object, kind: await withOwn(object.apiVersion, object.kind) })),
    );
    const refusals = looked.flatMap(({ object, kind }) => whyNotInstallable(object, kind) ?? []);
    if (refusals.length > 0)
        throw new Error(
            `${source}, which has objects that cannot be installed. Nothing was touched.\n` +
                `${refusals.map((refusal) => `  ${refusal}`).join("\n")}\n  ${anotherManifest()}`,
        );
    return looked.map(({ object, kind }) => placeOf(object, kind!, namespace));
}

/**
 * Checks that the stack would change, and later delete, no object of somebody else: Pulumi's provider applies an object
 * whether or not it exists, and takes it for its own from then on.
 *
 * @param objects those outside of the stack's namespaces. What is in these is the stack's
 * @throws Error that lists the objects that exist without the stack's mark, and who made them
 */
export async function requireNoForeignObjects(
    objects: readonly PlacedObject[],
    { source, instead, owner, context }: ManifestOwner,
    read: Reader,
): Promise<void> {
    const looked = await Promise.all(objects.map(async (placed) => ({ placed, found: await read(placed.path) })));
    const foreign = looked.filter(
        ({ found }) => found?.metadata !== undefined && !isMarkedBy(found.metadata.annotations, owner),
    );
    if (foreign.length === 0) return;
    const lines = foreign.map(({ placed, found }) => {
        const { object, namespace } = placed;
        return (
            `  ${object.kind} ${[namespace, object.metadata.name].filter(Boolean).join("/")}: ` +
            `it ${whose(found!.metadata!, owner)}\n` +
            "    If this stack may change it, and delete it with the agent: " +
            handOver(guardedObject(placed).words, found!.metadata!.annotations, { stack: owner.stack, context })
        );
    });
    throw new Error(
        `${source}, which has objects that exist and are not this stack's. They were left as they are.\n` +
            `${lines.join("\n")}\n  ${instead}`,
    );
}

export const anotherManifest = () => `To use a manifest without them: ${setCommand("agent.manifest", "PATH or URL")}`;

/** The objects of a manifest that are in none of the stack's namespaces. */
export const outsideOf = (namespaces: readonly string[], placed: readonly PlacedObject[]): PlacedObject[] =>
    placed.filter(({ object, namespace }) => !namespaces.includes(namespace ?? nameOfNamespace(object)));

const nameOfNamespace = ({ kind, metadata }: ManifestObject) => (kind === "Namespace" ? metadata.name : "");

/**
 * What the agent has outside of the stack's namespaces, as far as that is known without a cluster. Each update reads
 * these objects: see `requireNoForeignObjects`.
 *
 * @throws Error if the agent's manifest cannot be read
 */
export async function outsideOfAgent({
    agent,
    namespace,
}: Pick<StackConfiguration, "agent" | "namespace">): Promise<PlacedObject[]> {
    if (agent?.install === "builtin") return clusterWide(namespace);
    if (agent?.install !== "manifest") return [];
    const objects = await readObjects(agent.manifest!).catch((error: Error) => {
        throw new Error(`agent.manifest is "${agent.manifest}", which ${error.message}`);
    });
    const lookUp = withKindsIn(objects, async () => undefined);
    const placed = objects.map(async (object) => {
        const kind = (await lookUp(object.apiVersion, object.kind)) ?? guessedKind(object);
        return placeOf(object, kind, agent.namespace);
    });
    return outsideOf([agent.namespace, namespace], await Promise.all(placed));
}

/** What `pulumi destroy` must know of an object that it would delete. */
export function guardedObject({ object, namespace, path }: PlacedObject): GuardedObject {
    const place = namespace === undefined ? [] : ["--namespace", namespace];
    return { path, words: [...place, kubectlKind(object), object.metadata.name] };
}

/**
 * Checks that the agent does not take the shop's namespace with it: that has this stack's mark.
 *
 * @throws Error if the manifest has it
 */
export function requireNotOfShop(objects: readonly ManifestObject[], source: string, shop: string): void {
    if (!objects.some(({ kind, metadata }) => kind === "Namespace" && metadata.name === shop)) return;
    throw new Error(
        `${source}, which has the shop's namespace ${shop}: without the agent it would be deleted, with the shop. ` +
            "Nothing was touched.\n" +
            `  fix it with one without it: ${setCommand("agent.manifest", "PATH or URL")}`,
    );
}

/** As kubectl takes it without doubt about the group: `ClusterRole.v1.rbac.authorization.k8s.io`. */
function kubectlKind({ apiVersion, kind }: ManifestObject): string {
    const [group, version] = apiVersion.split("/");
    return version === undefined ? kind : `${kind}.${version}.${group}`;
}

/** Completes "it …". Of an object without a mark, field managers and labels hint at its owner. */
function whose({ annotations, labels = {}, managedFields = [] }: V1ObjectMeta, owner: Owner): string {
    const belongs = belongsTo(annotations, owner);
    if (annotations?.[marks.stack] !== undefined) return belongs;
    const managers = [...new Set(managedFields.map(({ manager }) => manager).filter(Boolean))].join(", ");
    const found = Object.entries(labels).map((pair) => pair.join("="));
    return `${belongs} (field managers: ${managers || "none"}; labels: ${found.join(", ") || "none"})`;
}
