import * as pulumi from "@pulumi/pulumi";

/** An object as Kubernetes takes it. */
export interface KubernetesObject {
    apiVersion: string;
    kind: string;
    metadata: { name: string; namespace?: string; annotations?: Record<string, string>; [field: string]: unknown };
    [field: string]: unknown;
}

/** What Secrets hold, by their names, as the API server gives it: in base64. */
export type SecretData = Record<string, Record<string, string>>;

/**
 * What components ask the engine for, as Kubernetes objects, in the order in which a cluster wants them. Nothing is made:
 * an engine stands in that gives back what it was asked with, and of a Secret what the API server would make of it.
 *
 * @param build makes the components
 * @param kept what Secrets of a name hold, instead of what is drawn for them. @default nothing
 */
export async function objectsOf(build: () => unknown, kept: SecretData = {}): Promise<KubernetesObject[]> {
    const objects: KubernetesObject[] = [];
    await pulumi.runtime.setMocks(
        {
            newResource: ({ type, name, inputs }) => {
                if (!type.startsWith("kubernetes:")) return { id: name, state: inputs };
                const object = stored(revealed(inputs) as KubernetesObject, kept);
                objects.push(object);
                return { id: name, state: object };
            },
            call: ({ inputs }) => inputs,
        },
        "chaos-shop",
        "rendering",
        false,
    );
    build();
    await pulumi.runtime.disconnect();
    return objects
        .map(forKubectl)
        .sort((a, b) => rankOf(a) - rankOf(b) || compare(a.kind, b.kind) || compare(a.metadata.name, b.metadata.name));
}

/** An object as the API server keeps it: of a Secret's `stringData` it makes `data`. */
function stored({ stringData, ...object }: KubernetesObject, kept: SecretData): KubernetesObject {
    if (object.kind !== "Secret") return object as KubernetesObject;
    const drawn = Object.entries(stringData as Record<string, string>).map(([entry, value]) => [
        entry,
        Buffer.from(value).toString("base64"),
    ]);
    return { ...(object as KubernetesObject), data: { ...Object.fromEntries(drawn), ...kept[object.metadata.name] } };
}

/** The engine's mark of a secret value (its `resource.SigKey`). */
const secretMark = "4dabf18193072939515e22adb298388d";

/** The same with secrets in clear text. */
function revealed(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(revealed);
    if (typeof value !== "object" || value === null) return value;
    if (secretMark in value) return revealed((value as unknown as { value: unknown }).value);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, revealed(inner)]));
}

/**
 * The same without what is meant for Pulumi and its stacks, and without empty lists, which kubectl takes for a change each
 * time. Nothing is immutable: nobody here leaves alone what another Node packs otherwise.
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

/** What others need comes first. */
const order = [
    "Namespace",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "Secret",
    "ConfigMap",
    "PersistentVolumeClaim",
    "Service",
];

/** The place of an object's kind in the order in which a cluster wants them. */
export function rankOf({ kind }: KubernetesObject): number {
    const found = order.indexOf(kind);
    return found === -1 ? order.length : found;
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
