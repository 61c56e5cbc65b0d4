import { CustomObjectsApi, type V1APIResourceList } from "@kubernetes/client-node";
import { type Cluster, orMissing } from "../../shared/kubernetes";
import { type ManifestObject, readObjects } from "../manifest/read";

/** What a manifest brings for the shop's namespace. */
export interface ShopManifest {
    /** Labels that it gives the namespace itself, which the stack makes. */
    namespaceLabels: Record<string, string>;
    objects: ManifestObject[];
}

/** What is known of a kind: whether its objects are in namespaces. Undefined: the cluster has no such kind. */
export type KindLookup = (apiVersion: string, kind: string) => Promise<{ namespaced: boolean } | undefined>;

/**
 * Reads the manifest that a shop is installed from, and makes sure that all of it is of the stack: nothing that any
 * other namespace, or the whole cluster, would have of it.
 *
 * @param location path or URL
 * @param namespace the shop's, for objects that name none
 * @throws Error that names what is wrong with it; of objects that may not be in it, each with its kind and name
 */
export async function readShopManifest(location: string, namespace: string, lookUp: KindLookup): Promise<ShopManifest> {
    const mend = "mend it, or set another: pulumi config set manifest 'PATH or URL'";
    const read = await readObjects(location).catch((error: Error) => {
        throw new Error(`manifest is "${location}", which ${error.message}; ${mend}`);
    });
    if (read.length === 0) throw new Error(`manifest is "${location}", which is empty; ${mend}`);
    const own = read.filter((object) => isOwnNamespace(object, namespace));
    const objects = read.filter((object) => !isOwnNamespace(object, namespace));
    const refusals = (await Promise.all(objects.map((object) => refusalOf(object, namespace, lookUp)))).filter(
        (refusal) => refusal !== undefined,
    );
    refusals.push(...duplicates(objects));
    if (refusals.length > 0) {
        const told = refusals.map((refusal) => `  ${refusal}`).join("\n");
        throw new Error(
            `manifest is "${location}", which this stack may not install. Nothing was touched.\n${told}\nAllowed are objects of namespace ${namespace} (pulumi config set namespace NAME); ${mend}`,
        );
    }
    return {
        namespaceLabels: Object.assign({}, ...own.map(({ metadata }) => metadata.labels)) as Record<string, string>,
        objects,
    };
}

/** What the cluster says of its kinds. Each version of an API is asked for once. */
export function kindsOf({ core, kubeconfig }: Cluster): KindLookup {
    const others = kubeconfig.makeApiClient(CustomObjectsApi);
    const asked = new Map<string, Promise<V1APIResourceList | undefined>>();
    const ask = (apiVersion: string) => {
        const [group, version] = apiVersion.split("/") as [string, string | undefined];
        if (version === undefined) return apiVersion === "v1" ? core.getAPIResources() : Promise.resolve(undefined);
        return orMissing(others.getAPIResources({ group, version }));
    };
    return async (apiVersion, kind) => {
        if (!asked.has(apiVersion)) asked.set(apiVersion, ask(apiVersion));
        // A subresource, such as deployments/scale, is of a kind, too, and nothing that is applied.
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
    if (known === undefined) return `${named}: the cluster knows no kind ${kind} of ${apiVersion}`;
    if (!known.namespaced) return `${named}: it belongs to no namespace, but to the whole cluster`;
    if (metadata.namespace !== undefined && metadata.namespace !== namespace)
        return `${named}: it goes into namespace ${metadata.namespace}`;
    return undefined;
}

function duplicates(objects: readonly ManifestObject[]): string[] {
    const identities = objects.map(({ apiVersion, kind, metadata }) => [apiVersion, kind, metadata.name].join());
    return objects
        .filter((_, index) => identities.indexOf(identities[index]!) !== index)
        .map(({ kind, metadata }) => `${kind} ${metadata.name}: it is there twice`);
}
