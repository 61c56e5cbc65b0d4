/** The types of objects that are used, and the calls to an API server. The deadline Job has this file, too. */
import type { ObjectOf } from "../values/kubernetes-types";

export type { KubeObject } from "../values/kubernetes-types";

/** A type of objects. */
export interface Resource {
    /** `""` is the core group. */
    apiGroup: string;
    /** @default "v1" */
    version?: string;
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

/** Types that are only read, or whose objects are no run's to undo. */
export const otherResources = {
    accessReview: {
        apiGroup: "authorization.k8s.io",
        resource: "selfsubjectaccessreviews",
        kind: "SelfSubjectAccessReview",
    },
    daemonSet: { apiGroup: "apps", resource: "daemonsets", kind: "DaemonSet" },
    disruptionBudget: { apiGroup: "policy", resource: "poddisruptionbudgets", kind: "PodDisruptionBudget" },
    endpointSlice: { apiGroup: "discovery.k8s.io", resource: "endpointslices", kind: "EndpointSlice" },
    /** No run needs them, and nothing undoes them: the cluster forgets an Event after an hour, by default. */
    event: { apiGroup: "", resource: "events", kind: "Event" },
    lease: { apiGroup: "coordination.k8s.io", resource: "leases", kind: "Lease" },
    mutatingWebhooks: {
        apiGroup: "admissionregistration.k8s.io",
        resource: "mutatingwebhookconfigurations",
        kind: "MutatingWebhookConfiguration",
    },
    namespace: { apiGroup: "", resource: "namespaces", kind: "Namespace" },
    node: { apiGroup: "", resource: "nodes", kind: "Node" },
    rulesReview: {
        apiGroup: "authorization.k8s.io",
        resource: "selfsubjectrulesreviews",
        kind: "SelfSubjectRulesReview",
    },
    secret: { apiGroup: "", resource: "secrets", kind: "Secret" },
    statefulSet: { apiGroup: "apps", resource: "statefulsets", kind: "StatefulSet" },
    storageClass: { apiGroup: "storage.k8s.io", resource: "storageclasses", kind: "StorageClass" },
    validatingWebhooks: {
        apiGroup: "admissionregistration.k8s.io",
        resource: "validatingwebhookconfigurations",
        kind: "ValidatingWebhookConfiguration",
    },
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

export interface ObjectReference<R extends Resource = Resource> {
    resource: R;
    namespace: string;
    name: string;
}

/** An object of a namespace that is known. */
export type NamedObject = Omit<ObjectReference, "namespace">;

/** Such an object, or without a name all of a type. */
export type Objects = Pick<NamedObject, "resource"> & Partial<NamedObject>;

/** Where objects are, or one. Objects of some types belong to no namespace. */
export interface Place<R extends Resource = Resource> {
    resource: R;
    /** @default all namespaces */
    namespace?: string;
    name?: string;
    /** A part of it with a path of its own: `log`, `eviction`. */
    part?: string;
}

/** The API path of the objects of a type, or of one. */
export function pathOf({ resource: { apiGroup, version = "v1", resource }, namespace, name, part }: Place): string {
    const place = namespace === undefined ? [] : ["namespaces", namespace];
    const keys = [...place, resource, name, part].filter((key) => key !== undefined);
    return [apiGroup === "" ? "/api" : `/apis/${apiGroup}`, version, ...keys.map(encodeURIComponent)].join("/");
}

/** The object at an API path, of one of `resources`. */
export function referenceAt(path: string): ObjectReference {
    const { name, ...place } = objectsAt(path);
    return { ...place, name: name! };
}

/** What is at an API path in a namespace, of one of `resources`: an object, or all of a type. */
export function objectsAt(path: string): Objects & { namespace: string } {
    const [namespace, plural, name] = path.slice(path.indexOf("/namespaces/") + "/namespaces/".length).split("/");
    const resource = Object.values(resources).find((one) => one.resource === plural)!;
    return { resource, namespace: namespace!, ...(name !== undefined && { name }) };
}

/** Which objects are listed. */
export interface Selection {
    /** @default all namespaces */
    namespace?: string;
    labelSelector?: string;
    fieldSelector?: string;
    /** Whether the rules of NetworkPolicies are read, which may be large: the Job's memory is small. @default false */
    withRules?: boolean;
}

/** Of an object that is made. */
export interface Creation {
    /** Has the API server only say whether it would do it. */
    dryRun?: "All";
}

/** How an object is patched. */
export interface Patching extends Creation {
    /** A list keeps the entries that the patch does not name: a strategic merge patch. @default a patch replaces it */
    mergesLists?: true;
}

/** What an object must be to be deleted: else the API server rejects it (409). */
export interface Preconditions {
    uid?: string;
    resourceVersion?: string;
}

type Named<R extends Resource> = Place<R> & { name: string };

/** Five calls to an API server. What fails has the status as its `code`, if there was an answer. */
export interface ObjectApi {
    /** @returns undefined if there is no such object */
    get<R extends Resource>(object: Named<R>): Promise<ObjectOf<R["kind"]> | undefined>;
    list<R extends Resource>(resource: R, selection: Selection): AsyncIterable<ObjectOf<R["kind"]>>;
    /** Sends a JSON merge patch, unless `how` says otherwise. @returns undefined if there is no such object */
    patch<R extends Resource>(object: Named<R>, body: object, how?: Patching): Promise<ObjectOf<R["kind"]> | undefined>;
    /** @param place with a name and a part for what is made of an object, such as an eviction */
    create<R extends Resource>(place: Place<R>, body: object, how?: Creation): Promise<ObjectOf<R["kind"]>>;
    /** Deletes it, and what belongs to it in the background. @returns false if it does not exist */
    delete(object: Named<Resource>, only?: Preconditions): Promise<boolean>;
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

/**
 * Rows of rights: `rightsIn(namespace)("get list", resources.pod).to("count the pods")`, on some types of objects or,
 * with names, on those of these names. A second reason says what is lost without an optional right.
 */
export const rightsIn =
    (namespace?: string) =>
    (verbs: string, ...of: (Pick<Right, "apiGroup" | "resource"> | string)[]) => ({
        to(why: string, without?: string): Right[] {
            const names = of.filter((one) => typeof one === "string");
            const same = {
                namespace,
                names: names.length > 0 ? names : undefined,
                verbs: verbs.split(" "),
                why,
                without,
            };
            return of.flatMap((one) =>
                typeof one === "string" ? [] : { apiGroup: one.apiGroup, resource: one.resource, ...same },
            );
        },
    });

/** To run commands in pods. Older Kubernetes versions check `get` for a WebSocket, newer ones also `create`. */
export const toRunInPods = ["create get", { resource: "pods/exec" }] as const;

export const isRequired = ({ without }: Right) => without === undefined;
