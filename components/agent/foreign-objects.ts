import { CustomObjectsApi, type KubernetesObject, type V1ObjectMeta } from "@kubernetes/client-node";
import { type Cluster, ignoreNotFound } from "../../chaos/cluster/client";
import { annotations as marks, belongsTo, handOver, isMarkedBy, type Owner } from "../cluster/marks";
import { kindsOf } from "../install/shop-manifest";
import type { ManifestObject } from "../manifest/read";
import { pulumiCommand } from "../pulumi-command";

/** The object as the cluster has it. Undefined if the cluster has no such object, or does not know the kind. */
export type ObjectLookup = (object: ManifestObject) => Promise<KubernetesObject | undefined>;

export interface ForeignObjectsArgs {
    /** The setting that names the manifest, and its value without secrets. */
    source: string;
    owner: Owner;
    /** The kubeconfig context, for commands. */
    context: string;
    /** The stack's namespaces. They are known to be its own, and so is everything in them. */
    namespaces: readonly string[];
}

/**
 * Checks that the stack would change, and later delete, no object of somebody else: Pulumi's provider applies an object
 * whether or not it exists, and takes it for its own from then on.
 *
 * @throws Error that lists the objects that exist without the stack's mark, and who made them
 */
export async function requireNoForeignObjects(
    objects: readonly ManifestObject[],
    { source, owner, context, namespaces }: ForeignObjectsArgs,
    lookUp: ObjectLookup,
): Promise<void> {
    const looked = await Promise.all(objects.map(async (object) => ({ object, found: await lookUp(object) })));
    const foreign = looked.filter(
        ({ found }) =>
            found?.metadata !== undefined &&
            !namespaces.includes(found.metadata.namespace ?? "") &&
            !isMarkedBy(found.metadata.annotations, owner),
    );
    if (foreign.length === 0) return;
    const lines = foreign.map(({ object, found }) => {
        const { annotations, namespace } = found!.metadata!;
        const { name } = object.metadata;
        const at = [...(namespace === undefined ? [] : ["--namespace", namespace]), kubectlKind(object), name];
        return (
            `  ${object.kind} ${[namespace, name].filter(Boolean).join("/")}: it ${whose(found!.metadata!, owner)}\n` +
            "    If this stack may change it, and delete it with the agent: " +
            handOver(at, annotations, { stack: owner.stack, context })
        );
    });
    const another = pulumiCommand(["config", "set", "agent.manifest", "PATH or URL"]);
    throw new Error(
        `${source}, which has objects that exist and are not this stack's. They were left as they are.\n` +
            `${lines.join("\n")}\n  To use a manifest without them: ${another}`,
    );
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
            `  fix it with one without it: ${pulumiCommand(["config", "set", "agent.manifest", "PATH or URL"])}`,
    );
}

/**
 * Looks up objects by their kind's own path: `KubernetesObjectApi` of the library asks for names in lower case.
 *
 * @param namespace for objects that name none
 */
export function objectsOf(cluster: Cluster, namespace: string): ObjectLookup {
    const lookUp = kindsOf(cluster);
    const others = cluster.kubeconfig.makeApiClient(CustomObjectsApi);
    const core = cluster.core as unknown as Record<string, (request: object) => Promise<KubernetesObject>>;
    return async ({ apiVersion, kind, metadata }) => {
        const known = await lookUp(apiVersion, kind);
        if (known === undefined) return undefined;
        const at = { name: metadata.name, ...(known.namespaced && { namespace: metadata.namespace ?? namespace }) };
        const [group, version] = apiVersion.split("/") as [string, string | undefined];
        if (version === undefined)
            return ignoreNotFound(core[`read${known.namespaced ? "Namespaced" : ""}${kind}`]!(at));
        const request = { ...at, group, version, plural: known.name };
        const found: unknown = await ignoreNotFound(
            "namespace" in request
                ? others.getNamespacedCustomObject(request as typeof request & { namespace: string })
                : others.getClusterCustomObject(request),
        );
        return found as KubernetesObject | undefined;
    };
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
