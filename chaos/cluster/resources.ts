/** What ending a run needs of an API server. Knows no client: the deadline Job has another than the update. */
import type { KubernetesObject } from "@kubernetes/client-node";

/** A type of objects. */
export interface Resource {
    /** `""` is the core group. */
    apiGroup: string;
    /** In the plural: `networkpolicies`. */
    resource: string;
    /** `NetworkPolicy`. */
    kind: string;
}

/** The types of the objects that a run makes or changes, and that its undoing so removes or restores. */
export const resources = {
    configMap: { apiGroup: "", resource: "configmaps", kind: "ConfigMap" },
    deployment: { apiGroup: "apps", resource: "deployments", kind: "Deployment" },
    job: { apiGroup: "batch", resource: "jobs", kind: "Job" },
    networkPolicy: { apiGroup: "networking.k8s.io", resource: "networkpolicies", kind: "NetworkPolicy" },
    pod: { apiGroup: "", resource: "pods", kind: "Pod" },
    replicaSet: { apiGroup: "apps", resource: "replicasets", kind: "ReplicaSet" },
    role: { apiGroup: "rbac.authorization.k8s.io", resource: "roles", kind: "Role" },
    roleBinding: { apiGroup: "rbac.authorization.k8s.io", resource: "rolebindings", kind: "RoleBinding" },
    service: { apiGroup: "", resource: "services", kind: "Service" },
    serviceAccount: { apiGroup: "", resource: "serviceaccounts", kind: "ServiceAccount" },
} as const satisfies Record<string, Resource>;

/** An entry of `resources`: these are compared by identity. */
export type KnownResource = (typeof resources)[keyof typeof resources];

/**
 * The types that the deadline Job is made of, in the order in which they are removed. The program last: the Job may
 * have to start again as long as it exists.
 */
export const jobTypes = [
    resources.job,
    resources.roleBinding,
    resources.role,
    resources.serviceAccount,
    resources.configMap,
] as const;

export interface ObjectReference {
    resource: Resource;
    namespace: string;
    name: string;
}

/** An object of a namespace that is known. */
export type NamedObject = Omit<ObjectReference, "namespace">;

/** The API path of the objects of a namespace, or of one. */
export function pathOf({ resource, namespace, name }: Omit<ObjectReference, "name"> & { name?: string }): string {
    const api = resource.apiGroup === "" ? "/api/v1" : `/apis/${resource.apiGroup}/v1`;
    return `${api}/namespaces/${namespace}/${resource.resource}${name === undefined ? "" : `/${name}`}`;
}

/** The object at an API path, of one of `resources`. */
export function referenceAt(path: string): ObjectReference {
    const [namespace, plural, name] = path.split("/").slice(-3);
    const resource = Object.values(resources).find((one) => one.resource === plural)!;
    return { resource, namespace: namespace!, name: name! };
}

export interface KubeObject extends KubernetesObject {
    spec?: object;
}

/** Five calls to an API server. What fails has the status as its `code`, if there was an answer. */
export interface ObjectApi {
    get(object: ObjectReference): Promise<KubeObject | undefined>;
    /**
     * @param labelSelector absent for all objects
     * @param withRules whether the rules of NetworkPolicies are read, which may be large. The Job's memory is small
     */
    list(resource: Resource, namespace: string, labelSelector?: string, withRules?: boolean): AsyncIterable<KubeObject>;
    patch(object: ObjectReference, body: object): Promise<KubeObject | undefined>;
    create(resource: Resource, namespace: string, body: object): Promise<unknown>;
    /**
     * Deletes it, and what belongs to it in the background.
     *
     * @param uid the API server rejects it (409) if another object has taken the name. @default any
     * @returns false if it does not exist
     */
    delete(object: ObjectReference, uid?: string): Promise<boolean>;
}

/**
 * What attacks or actions of a kind change in the cluster and must be restored. By this the deadline Job, the sweep and
 * the rights know it.
 */
export interface Restores<W> {
    resource: KnownResource;
    /** The field that has the object's name. It is in the namespace of the attacks. */
    named: keyof W & string;
}

/** The object that an attack or action changes. Undefined if it changes none that must be restored. */
export const changedOf = <W>(restores: Restores<W> | undefined, what: W): NamedObject | undefined =>
    restores && { resource: restores.resource, name: String(what[restores.named]) };

/** How changes of objects are found and restored, whoever made them. */
export interface Restorable {
    /** Whether a run has changed an object, and nobody has restored it. */
    isChanged(object: KubeObject): boolean;
    /** The run that did. Undefined if the object does not say so. */
    runOf(object: KubeObject): string | undefined;
    /** Name of an object of the same type that keeps what was there before. @default none is needed */
    keeperOf?(object: KubeObject): string | undefined;
    /**
     * The next merge patch that restores an object. Undefined if there is nothing to restore. It names the object's
     * `resourceVersion`: the API server rejects it (409) if somebody has changed the object since.
     *
     * @param found the object before the first of the patches. @default the object
     */
    next(object: KubeObject, kept?: KubeObject, found?: KubeObject): object | undefined;
    /**
     * What stays of an object as somebody else has set it since, in words. Undefined if nothing does.
     *
     * @param kind of the object
     */
    left?(object: KubeObject, kind: string): string | undefined;
}

/** What Kubernetes RBAC lets an account do with some objects. */
export interface Right {
    /** Namespace of the objects. Absent: the right is for the whole cluster. */
    namespace?: string;
    /** @default "", the core group */
    apiGroup?: string;
    /** In the plural, with a subresource if it is meant: `pods`, `pods/exec`. */
    resource: string;
    verbs: readonly string[];
    /** Names of the objects. RBAC cannot limit `create` to names. @default all objects */
    names?: readonly string[];
    /** What needs it, as a phrase: "label the targets". */
    why: string;
    /** What is lost without it, in a sentence without a period. Absent: the experiment needs it. */
    without?: string;
}

/** Makes rights on some objects: with verbs, a reason, and what is lost without it. */
export const rightsOn =
    ({ namespace, apiGroup, resource, names }: Pick<Right, "namespace" | "apiGroup" | "resource" | "names">) =>
    (verbs: readonly string[], why: string, without?: string): Right => ({
        namespace,
        apiGroup,
        resource,
        names,
        verbs,
        why,
        without,
    });

export const isRequired = ({ without }: Right) => without === undefined;
