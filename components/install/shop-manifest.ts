import { CustomObjectsApi, type V1APIResource, type V1APIResourceList } from "@kubernetes/client-node";
import { type Cluster, ignoreNotFound } from "../../chaos/cluster/client";
import { type ManifestObject, readObjects } from "../manifest/read";
import { pulumiCommand } from "../pulumi-command";

export interface ShopManifest {
    /** The manifest's labels for the namespace, which the stack creates. */
    namespaceLabels: Record<string, string>;
    objects: ManifestObject[];
}

/** Looks up what the cluster does with a kind's objects. Undefined if it does not know the kind. */
export type KindLookup = (
    apiVersion: string,
    kind: string,
) => Promise<Pick<V1APIResource, "name" | "namespaced" | "verbs"> | undefined>;

/**
 * Reads a shop's manifest and checks that it contains only objects of the shop's namespace.
 *
 * @param location path or URL
 * @param namespace the shop's, for objects that name none
 * @throws Error that names what is wrong, and each object that is not allowed by kind and name
 */
export async function readShopManifest(location: string, namespace: string, lookUp: KindLookup): Promise<ShopManifest> {
    const fix = `fix it, or set another: ${pulumiCommand(["config", "set", "manifest", "PATH or URL"])}`;
    const read = await readObjects(location, namespace).catch((error: Error) => {
        throw new Error(`manifest is "${location}", which ${error.message}; ${fix}`);
    });
    if (read.length === 0) throw new Error(`manifest is "${location}", which is empty; ${fix}`);
    const own = read.filter((object) => isOwnNamespace(object, namespace));
    const objects = read.filter((object) => !isOwnNamespace(object, namespace));
    const refusals = (await Promise.all(objects.map((object) => refusalOf(object, namespace, lookUp)))).filter(
        (refusal) => refusal !== undefined,
    );
    if (refusals.length > 0) {
        const lines = refusals.map((refusal) => `  ${refusal}`).join("\n");
        throw new Error(
            `manifest is "${location}", which this stack may not install. Nothing was touched.\n${lines}\n` +
                `Allowed are objects of namespace ${namespace} ` +
                `(${pulumiCommand(["config", "set", "namespace", "NAME"])}); ${fix}`,
        );
    }
    return {
        namespaceLabels: Object.assign({}, ...own.map(({ metadata }) => metadata.labels)) as Record<string, string>,
        objects,
    };
}

/** Looks up kinds in the cluster. Requests each API version once. */
export function kindsOf({ core, kubeconfig }: Cluster): KindLookup {
    const others = kubeconfig.makeApiClient(CustomObjectsApi);
    const asked = new Map<string, Promise<V1APIResourceList | undefined>>();
    const ask = (apiVersion: string) => {
        const [group, version] = apiVersion.split("/") as [string, string | undefined];
        if (version === undefined) return apiVersion === "v1" ? core.getAPIResources() : Promise.resolve(undefined);
        return ignoreNotFound(others.getAPIResources({ group, version }));
    };
    return async (apiVersion, kind) => {
        if (!asked.has(apiVersion)) asked.set(apiVersion, ask(apiVersion));
        // Subresources, such as deployments/scale, have a kind, too, but cannot be applied.
        return (await asked.get(apiVersion))?.resources.find(
            (resource) => resource.kind === kind && !resource.name.includes("/"),
        );
    };
}

const isOwnNamespace = ({ apiVersion, kind, metadata }: ManifestObject, namespace: string) =>
    apiVersion === "v1" && kind === "Namespace" && metadata.name === namespace;

async function refusalOf(
    { apiVersion, kind, metadata }: ManifestObject,
    namespace: string,
    lookUp: KindLookup,
): Promise<string | undefined> {
    const known = await lookUp(apiVersion, kind);
    const named = `${kind} ${metadata.name}`;
    if (known === undefined) return `${named}: the cluster has no kind ${kind} in ${apiVersion}`;
    // Such as a LocalSubjectAccessReview, which is a question.
    if (!known.verbs.includes("patch") || !known.verbs.includes("delete"))
        return `${named}: it cannot be installed; of its kind, the cluster allows only ${known.verbs.join(", ")}`;
    if (!known.namespaced) return `${named}: it is cluster-wide, in no namespace`;
    if (metadata.namespace !== undefined && metadata.namespace !== namespace)
        return `${named}: it is in namespace ${metadata.namespace}`;
    return undefined;
}
