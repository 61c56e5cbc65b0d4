import type { V1APIResource, V1APIResourceList } from "../../chaos/values/kubernetes-types";
import type { Reader } from "../cluster/reading";
import type { ManifestObject } from "./read";

/** What the API server does with the objects of a kind. */
export type Kind = Pick<V1APIResource, "name" | "namespaced" | "verbs">;

/** Looks up a kind. Undefined if the cluster does not know it. */
export type KindLookup = (apiVersion: string, kind: string) => Promise<Kind | undefined>;

const pathOf = (apiVersion: string) =>
    `/${apiVersion.includes("/") ? "apis" : "api"}/${apiVersion.split("/").map(encodeURIComponent).join("/")}`;

/** Looks up kinds in the cluster. Requests each API version once. */
export function kindsOf(read: Reader): KindLookup {
    const asked = new Map<string, Promise<Partial<V1APIResourceList> | undefined>>();
    return async (apiVersion, kind) => {
        if (!asked.has(apiVersion)) asked.set(apiVersion, read(pathOf(apiVersion)));
        // Subresources, such as deployments/scale, have a kind, too, but cannot be applied.
        return (await asked.get(apiVersion))?.resources?.find(
            (resource) => resource.kind === kind && !resource.name.includes("/"),
        );
    };
}

/** Looks up kinds that a manifest brings itself, if the cluster does not know them yet. */
export function withKindsIn(objects: readonly ManifestObject[], lookUp: KindLookup): KindLookup {
    const definitions = objects.filter(({ kind }) => kind === "CustomResourceDefinition");
    const specs = definitions.map(({ spec }) => spec as Partial<DefinedKind> | undefined);
    return async (apiVersion, kind) => {
        const known = await lookUp(apiVersion, kind);
        if (known !== undefined) return known;
        const own = specs.find((spec) => spec?.names?.kind === kind && apiVersion.startsWith(`${spec.group}/`));
        return own && { name: own.names!.plural, namespaced: own.scope !== "Cluster", verbs: ["patch", "delete"] };
    };
}

/** Of the `spec` of a CustomResourceDefinition. */
interface DefinedKind {
    group: string;
    scope: string;
    names: { kind: string; plural: string };
}

/** Of Kubernetes' own kinds, those that are in no namespace. */
const clusterWideKinds = [
    ...["Namespace", "Node", "PersistentVolume", "ClusterRole", "ClusterRoleBinding", "APIService", "FlowSchema"],
    ...["CustomResourceDefinition", "PriorityClass", "StorageClass", "IngressClass", "RuntimeClass", "CSIDriver"],
    ...["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "PriorityLevelConfiguration"],
    ...["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy"],
    ...["MutatingAdmissionPolicyBinding", "CertificateSigningRequest", "ClusterTrustBundle", "DeviceClass"],
];

/**
 * An object's kind, without a cluster: named as Kubernetes' own clients guess it (`UnsafeGuessKindToResource` in
 * https://github.com/kubernetes/apimachinery/blob/v0.34.4/pkg/api/meta/restmapper.go). Other kinds than Kubernetes' own
 * count as cluster-wide if the object names no namespace.
 */
export function guessedKind({ apiVersion, kind, metadata }: ManifestObject): Kind {
    const isOwn = /^(?:[^/.]+|[^/]+\.k8s\.io)(?:\/|$)/.test(apiVersion);
    const namespaced = isOwn ? !clusterWideKinds.includes(kind) : metadata.namespace !== undefined;
    const word = kind.toLowerCase();
    const plural = word.endsWith("s") ? `${word}es` : word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`;
    return { name: plural, namespaced, verbs: [] };
}

/** Why an object of a kind cannot be a resource of a stack. Undefined if it can. */
export function whyNotInstallable({ apiVersion, kind, metadata }: ManifestObject, known?: Kind): string | undefined {
    const named = `${kind} ${metadata.name}`;
    if (known === undefined) return `${named}: the cluster has no kind ${kind} in ${apiVersion}`;
    // Such as a Binding, which is an order, or a LocalSubjectAccessReview, which is a question.
    if (!known.verbs.includes("patch") || !known.verbs.includes("delete"))
        return `${named}: it cannot be installed; of its kind, the cluster allows only ${known.verbs.join(", ")}`;
    return undefined;
}

/** An object of a manifest, and where the cluster has it. */
export interface PlacedObject {
    object: ManifestObject;
    /** Undefined if its kind is cluster-wide. */
    namespace?: string;
    /** In the API. */
    path: string;
}

/** @param namespace for an object that names none */
export function placeOf(object: ManifestObject, { name: plural, namespaced }: Kind, namespace: string): PlacedObject {
    const { apiVersion, metadata } = object;
    const own = namespaced ? (metadata.namespace ?? namespace) : undefined;
    const within = own === undefined ? "" : `/namespaces/${own}`;
    const path = `${pathOf(apiVersion)}${within}/${plural}/${encodeURIComponent(metadata.name)}`;
    return { object, namespace: own, path };
}
