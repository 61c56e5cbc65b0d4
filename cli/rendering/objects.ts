import { collectObjects, type KubernetesObject } from "./collect";

/** The `data` of Secrets by name. Values are base64-encoded. */
export type SecretData = Record<string, Record<string, string>>;

/**
 * The Kubernetes objects of components, in the order in which a cluster needs them. Nothing is created.
 *
 * @param build creates the components
 * @param kept data of Secrets to use instead of new passwords. @default none
 */
export async function objectsOf(build: () => unknown, kept: SecretData = {}): Promise<KubernetesObject[]> {
    const objects = await collectObjects(build, (object) => stored(object, kept));
    return objects
        .map(forKubectl)
        .sort((a, b) => rankOf(a) - rankOf(b) || compare(a.kind, b.kind) || compare(a.metadata.name, b.metadata.name));
}

/** An object as the API server stores it: a Secret's `stringData` becomes `data`. */
function stored(object: KubernetesObject, kept: SecretData): KubernetesObject {
    if (object.kind !== "Secret") return object;
    const { stringData, ...secret } = object as KubernetesObject & { stringData: Record<string, string> };
    const data = Object.entries(stringData).map(([entry, value]) => [entry, Buffer.from(value).toString("base64")]);
    return { ...secret, data: { ...Object.fromEntries(data), ...kept[object.metadata.name] } };
}

/**
 * An object without Pulumi's and the stack's annotations, and without empty lists, which kubectl reports as a change
 * each time. Without `immutable`, too: another version of Node compresses the same program to different bytes.
 */
function forKubectl({ apiVersion, kind, metadata, immutable: _, ...rest }: KubernetesObject): KubernetesObject {
    const { annotations = {}, name, namespace, ...others } = metadata;
    const kept = Object.entries(annotations).filter(
        ([annotation]) => !/^(?:pulumi\.com|chaos-shop)\//.test(annotation),
    );
    const plain = {
        apiVersion,
        kind,
        metadata: {
            name,
            ...(namespace !== undefined && { namespace }),
            ...others,
            ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }),
        },
        ...rest,
    };
    return withoutEmptyLists(plain) as KubernetesObject;
}

function withoutEmptyLists(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(withoutEmptyLists);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).filter(([, inner]) => !(Array.isArray(inner) && inner.length === 0));
    return Object.fromEntries(entries.map(([name, inner]) => [name, withoutEmptyLists(inner)]));
}

const order = [
    "Namespace",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "Secret",
    "ConfigMap",
    "PersistentVolumeClaim",
    "Service",
    // Before the pods that they select.
    "NetworkPolicy",
];

/** The position of an object's kind in the order in which a cluster needs them. */
export function rankOf({ kind }: KubernetesObject): number {
    const found = order.indexOf(kind);
    return found === -1 ? order.length : found;
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
