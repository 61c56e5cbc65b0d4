import { type KindLookup, whyNotInstallable } from "../manifest/kinds";
import { type ManifestObject, readObjects } from "../manifest/read";
import { setCommand } from "../pulumi-command";

export interface ShopManifest {
    /** The manifest's labels for the namespace, which the stack creates. */
    namespaceLabels: Record<string, string>;
    objects: ManifestObject[];
}

/**
 * Reads a shop's manifest and checks that it contains only objects of the shop's namespace.
 *
 * @param location path or URL
 * @param namespace the shop's, for objects that name none
 * @throws Error that names what is wrong, and each object that is not allowed by kind and name
 */
export async function readShopManifest(location: string, namespace: string, lookUp: KindLookup): Promise<ShopManifest> {
    const fix = `fix it, or set another: ${setCommand("manifest", "PATH or URL")}`;
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
                `(${setCommand("namespace", "NAME")}); ${fix}`,
        );
    }
    return {
        namespaceLabels: Object.assign({}, ...own.map(({ metadata }) => metadata.labels)) as Record<string, string>,
        objects,
    };
}

const isOwnNamespace = ({ apiVersion, kind, metadata }: ManifestObject, namespace: string) =>
    apiVersion === "v1" && kind === "Namespace" && metadata.name === namespace;

async function refusalOf(object: ManifestObject, namespace: string, lookUp: KindLookup): Promise<string | undefined> {
    const { apiVersion, kind, metadata } = object;
    const known = await lookUp(apiVersion, kind);
    const reason = whyNotInstallable(object, known);
    if (reason !== undefined) return reason;
    const named = `${kind} ${metadata.name}`;
    if (!known!.namespaced) return `${named}: it is cluster-wide, in no namespace`;
    if (metadata.namespace !== undefined && metadata.namespace !== namespace)
        return `${named}: it is in namespace ${metadata.namespace}`;
    return undefined;
}
