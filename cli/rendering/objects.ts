import * as pulumi from "@pulumi/pulumi";
import { dump } from "js-yaml";
import type { ManifestObject } from "../../components/manifest/read";

/** The `data` of Secrets by name. Values are base64-encoded. */
export type SecretData = Record<string, Record<string, string>>;

/**
 * The Kubernetes objects of components, in the order in which a cluster needs them. Nothing is created: the SDK's mocks
 * for unit tests collect what components register, instead of an engine. So `npm run render` needs no Pulumi CLI,
 * login, provider or cluster. Measured: 1 s of processor time for both renderings, after 2.3 s to load the program.
 *
 * The provider's `renderYamlToDirectory` (beta) is no replacement: it needs all of these, contacts the current
 * context's cluster, writes each Secret to a file that everybody may read, and leaves outputs undefined that the shop
 * uses.
 *
 * What the SDK guarantees about mocks: `newResource` is called once per resource, after transformations, with resolved
 * inputs; the state that it returns resolves the resource's outputs; `disconnect` waits for all of them. No provider
 * checks the inputs: the end-to-end tests apply the renderings to a cluster.
 *
 * @param build creates the components
 * @param kept data of Secrets to use instead of new passwords. @default none
 */
export async function objectsOf(build: () => unknown, kept: SecretData = {}): Promise<ManifestObject[]> {
    const objects: ManifestObject[] = [];
    const newResource = ({ type, name, inputs }: pulumi.runtime.MockResourceArgs) => {
        if (!type.startsWith("kubernetes:")) return { id: name, state: inputs as object };
        const object = stored(revealed(inputs) as ManifestObject, kept);
        objects.push(object);
        return { id: name, state: object };
    };
    await pulumi.runtime.setMocks({ newResource, call: () => ({}) }, "chaos-shop", "rendering", false);
    build();
    await pulumi.runtime.disconnect();
    return objects
        .map(forKubectl)
        .sort((a, b) => rankOf(a) - rankOf(b) || compare(a.kind, b.kind) || compare(a.metadata.name, b.metadata.name));
}

type SecretTexts = Record<string, string> | undefined;

/** An object as the API server stores it: a Secret's `stringData` becomes `data`. */
function stored(object: ManifestObject, kept: SecretData): ManifestObject {
    if (object.kind !== "Secret") return object;
    const { stringData = {}, data, ...secret } = object as ManifestObject & Record<"stringData" | "data", SecretTexts>;
    const encoded = Object.entries(stringData).map(([entry, value]) => [entry, Buffer.from(value).toString("base64")]);
    return { ...secret, data: { ...data, ...Object.fromEntries(encoded), ...kept[object.metadata.name] } };
}

/**
 * An object without Pulumi's and the stack's annotations, and without empty lists, which kubectl reports as a change
 * each time. Without `immutable`, too: another version of Node compresses the same program to different bytes.
 */
function forKubectl({ apiVersion, kind, metadata, immutable: _, ...rest }: ManifestObject): ManifestObject {
    const { annotations = {}, name, namespace, ...others } = metadata;
    const kept = Object.entries(annotations).filter(
        ([annotation]) => !/^(?:pulumi\.com|chaos-shop)\//.test(annotation),
    );
    const whole = {
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
    const withoutEmptyLists = JSON.stringify(whole, (_, value: unknown) =>
        Array.isArray(value) && value.length === 0 ? undefined : value,
    );
    return JSON.parse(withoutEmptyLists) as ManifestObject;
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
export function rankOf({ kind }: ManifestObject): number {
    const found = order.indexOf(kind);
    return found === -1 ? order.length : found;
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * A value with its secrets in plain text.
 *
 * @param value resource inputs as the SDK registers them, or from `pulumi stack export --show-secrets`
 * @throws Error if a secret is encrypted
 */
export function revealed(value: unknown): unknown {
    return JSON.parse(JSON.stringify(value), (_, field: unknown) => {
        if (!pulumi.runtime.isRpcSecret(field)) return field;
        // The SDK registers a secret with its value; a state holds it as JSON.
        const { value, plaintext } = field as { value?: unknown; plaintext?: string };
        if (value !== undefined) return value;
        if (plaintext !== undefined) return revealed(JSON.parse(plaintext));
        throw new Error("the state contains an encrypted secret; export it with --show-secrets");
    });
}

export interface RenderedFile {
    path: string;
    text: string;
    /** Whether it contains secrets: only its owner may read it. @default false */
    secret?: boolean;
}

export const yamlOf = (value: unknown) => dump(value, { lineWidth: -1, noRefs: true });

export const fileNameOf = ({ kind, metadata }: ManifestObject) => `${kind.toLowerCase()}-${metadata.name}.yaml`;
