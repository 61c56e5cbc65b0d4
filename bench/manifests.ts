import type { StackState } from "./stack";

/** A Kubernetes object, as `kubectl apply` takes it. */
export interface Manifest {
    apiVersion: string;
    kind: string;
    metadata: { name: string; namespace?: string; [field: string]: unknown };
    [field: string]: unknown;
}

/**
 * The Kubernetes objects of a stack as manifests, in the order in which the engine made them. What the cluster adds
 * to an object is not among them, and no object's namespace is the stack's, but `namespace`.
 */
export function manifestsOf(state: StackState, namespace: string): Manifest[] {
    return state.deployment.resources
        .filter(({ type, custom }) => custom && type.startsWith("kubernetes:"))
        .map(({ inputs }) => moved(revealed(inputs) as Manifest, namespace));
}

function moved(manifest: Manifest, namespace: string): Manifest {
    const { kind, metadata } = manifest;
    return {
        ...manifest,
        metadata: kind === "Namespace" ? { ...metadata, name: namespace } : { ...metadata, namespace },
    };
}

/** The mark of a secret in a Pulumi state (its `plaintext` is JSON in a string), from the engine's `resource.SigKey`. */
const signatureKey = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** A value of a state with its secrets in clear text, as they are where the state was exported so. */
function revealed(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(revealed);
    if (typeof value !== "object" || value === null) return value;
    const entries = value as Record<string, unknown>;
    if (entries[signatureKey] === secretSignature) {
        if (typeof entries.plaintext !== "string")
            throw new Error("the state holds a secret that is still encrypted; export it with --show-secrets");
        return revealed(JSON.parse(entries.plaintext));
    }
    return Object.fromEntries(Object.entries(entries).map(([key, item]) => [key, revealed(item)]));
}
