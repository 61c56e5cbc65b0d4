import { ApiError, callsOver, type Cluster } from "../../../../chaos/cluster/client";
import { Kubeconfig } from "../../../../chaos/cluster/kubeconfig";
import { otherResources, type Resource, resources } from "../../../../chaos/cluster/resources";
import type { V1ObjectMeta, V1ResourceAttributes, V1ResourceRule } from "../../../../chaos/values/kubernetes-types";
import type { ApiCall, ApiResponse } from "../../../../chaos/cluster/verbs";
import { bindings } from "../../../../chaos/kinds/attacks/fault/outside";

/** A stored object. Tests read and change it directly. */
export interface StoredObject {
    metadata: V1ObjectMeta & { name: string; namespace?: string };
    [field: string]: any;
}

type Kind =
    | "ConfigMap"
    | "DaemonSet"
    | "Deployment"
    | "EndpointSlice"
    | "Event"
    | "Job"
    | "Lease"
    | "MutatingWebhookConfiguration"
    | "Namespace"
    | "Node"
    | "NetworkPolicy"
    | "Pod"
    | "PodDisruptionBudget"
    | "ReplicaSet"
    | "Role"
    | "RoleBinding"
    | "Secret"
    | "Service"
    | "ServiceAccount"
    | "StatefulSet"
    | "StorageClass"
    | "TargetGroupBinding"
    | "ValidatingWebhookConfiguration";

export interface FakeRequest {
    name?: string;
    namespace?: string;
    labelSelector?: string;
    fieldSelector?: string;
    dryRun?: "All";
    /** Whether a patch merges lists by the names of their entries. */
    mergesLists?: boolean;
    body?: any;
    resource: Resource;
}

const types: readonly Resource[] = [...Object.values(resources), ...Object.values(otherResources), ...bindings];

/**
 * A cluster in memory, with an API server that answers as far as experiments ask: with 404 for a missing object, and
 * with 409 for an existing name, a stale `resourceVersion` or another `uid`.
 */
export class FakeCluster {
    /** Each call, in order: `create Lease`, `list all Pod` if it is of all namespaces, `get Pod/log`. */
    readonly calls: string[] = [];
    /** The log of each pod, by name. */
    readonly logs = new Map<string, string>();
    /** Called before each call. What it throws, the call throws. */
    intercept: (call: string, request: FakeRequest) => void = () => undefined;
    /** Called after each change, before it is stored: what else the API server does then. */
    changed: (kind: string, before: StoredObject, after: StoredObject, body: any) => void = () => undefined;
    /** What a pod answers through the API server's proxy. */
    proxied: (request: FakeRequest) => unknown = ({ name }) => refuse(503, `no answer from ${name}`);
    /** What the account may do in every namespace, as a SelfSubjectRulesReview lists it. */
    rules: V1ResourceRule[] = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
    /** What a SelfSubjectAccessReview says. */
    access: (asked: V1ResourceAttributes) => { allowed: boolean; evaluationError?: string } = () => ({ allowed: true });
    /** How far the API server's clock is ahead of this machine's. */
    clockAheadMs = 0;
    private readonly objects = new Map<string, StoredObject>();
    private version = 0;

    readonly api: Cluster = callsOver(new Kubeconfig(), (path, call) => this.answer(path, call));

    /** Stores an object as it is. */
    add(kind: Kind, name: string, fields: Record<string, any> = {}, namespace = "demo"): StoredObject {
        const metadata = { name, namespace, uid: `${name}-${++this.version}`, ...fields.metadata };
        const object = { ...fields, metadata: { ...metadata, resourceVersion: String(this.version) } };
        this.objects.set(keyOf(kind, metadata), object);
        return object;
    }

    /** Stores what a deadline Job needs beside itself. */
    addRightsOfJob(name: string): void {
        for (const kind of ["ServiceAccount", "ConfigMap"] as const) this.add(kind, name);
        this.add("Role", name, { rules: [{ verbs: ["get"] }] });
        this.add("RoleBinding", name, { subjects: [{ kind: "ServiceAccount", name }] });
    }

    /** Refuses this call from now on, and no other. */
    refuses(call: string, code: number, words: string): void {
        this.intercept = (made) => void (made === call && refuse(code, words));
    }

    /** @throws Error if the object does not exist */
    get(kind: Kind, name: string, namespace = "demo"): StoredObject {
        return this.stored(kind, { name, namespace });
    }

    remove(kind: Kind, name: string, namespace = "demo"): void {
        this.objects.delete(keyOf(kind, { name, namespace }));
    }

    /** The names of all objects of a kind. */
    names(kind: Kind): string[] {
        return this.list(kind, {}).map(({ metadata }) => metadata.name);
    }

    /** What the API server answers to a request. @throws what `intercept` throws, unless that is an ApiError */
    async answer(path: string, { method = "GET", body, mergesLists }: ApiCall = {}): Promise<ApiResponse> {
        const sentAt = Math.floor((Date.now() + this.clockAheadMs) / 1_000) * 1_000;
        try {
            const sent = body && (JSON.parse(JSON.stringify(body)) as object);
            const given = this.serve(path, method, sent, mergesLists);
            return { status: 200, body: typeof given === "string" ? given : JSON.stringify(given), sentAt };
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            return { status: error.code, body: error.body, sentAt };
        }
    }

    private serve(path: string, method: string, body: any, mergesLists?: boolean): unknown {
        const { pathname, searchParams } = new URL(path, "https://api");
        const [, group = "", rest = ""] = /^\/(?:api|apis\/([^/]+))\/[^/]+\/(.*)$/.exec(pathname)!;
        const keys = rest.split("/").map(decodeURIComponent);
        const [namespace, plural, name, part] =
            keys[0] === "namespaces" && keys.length > 2 ? keys.slice(1) : [undefined, ...keys];
        const resource = types.find((one) => one.resource === plural && one.apiGroup === group);
        if (resource === undefined) refuse(404, `there is no ${plural}`);
        const query = Object.fromEntries(searchParams) as Pick<
            FakeRequest,
            "dryRun" | "labelSelector" | "fieldSelector"
        >;
        const request: FakeRequest = { ...query, namespace, name, body, resource, mergesLists };
        const verb = name === undefined && method === "GET" ? "list" : verbs[method]!;
        const all = verb === "list" && namespace === undefined && !ofCluster.has(resource.kind) ? " all" : "";
        const call = `${verb}${all} ${resource.kind}${part === undefined ? "" : `/${part}`}`;
        this.calls.push(call);
        this.intercept(call, request);
        return this.do(verb, part, resource.kind as Kind, request);
    }

    private do(
        verb: string,
        part: string | undefined,
        kind: Kind | `SelfSubject${string}`,
        request: FakeRequest,
    ): unknown {
        if (part === "log") return this.logs.get(this.stored("Pod", request).metadata.name) ?? "";
        if (part === "proxy") return this.proxied({ ...request, name: request.name });
        if (part === "eviction") return this.stored("Pod", request);
        if (kind === "SelfSubjectRulesReview") return { status: { resourceRules: this.rules } };
        if (kind === "SelfSubjectAccessReview")
            return { status: this.access(request.body.spec.resourceAttributes as V1ResourceAttributes) };
        const of = kind as Kind;
        switch (verb) {
            case "get":
                return this.stored(of, request);
            case "list":
                return { metadata: {}, items: this.list(of, request) };
            case "create":
                return this.create(of, request);
            case "replace":
            case "patch":
                return this.change(of, request, verb);
            case "delete":
                return this.delete(of, request);
            default:
                throw new Error(`the fake cluster has no call ${verb}`);
        }
    }

    private stored(kind: Kind, { name, namespace }: Pick<FakeRequest, "name" | "namespace">): StoredObject {
        return this.objects.get(keyOf(kind, { name: name!, namespace })) ?? refuse(404, `${kind} "${name}" not found`);
    }

    private list(
        kind: Kind,
        { namespace, labelSelector, fieldSelector }: Pick<FakeRequest, "namespace" | "labelSelector" | "fieldSelector">,
    ): StoredObject[] {
        return [...this.objects, ...this.selected()]
            .filter(([key]) => key.startsWith(`${kind} ${namespace === undefined ? "" : `${namespace} `}`))
            .map(([, object]) => object)
            .filter(({ metadata }) => selects(labelSelector, metadata.labels))
            .filter(({ metadata }) => [undefined, metadata.name].includes(nameIn(fieldSelector)));
    }

    /** The EndpointSlices that a controller makes by the selectors of Services: here one for each pod. */
    private selected(): [string, StoredObject][] {
        const of = (kind: Kind) => [...this.objects].flatMap(([key, one]) => (key.startsWith(`${kind} `) ? one : []));
        return of("Service").flatMap(({ metadata: { name: service, namespace }, spec }) => {
            const wanted = Object.entries<string>(spec?.selector ?? {}).map((pair) => pair.join("="));
            if (wanted.length === 0) return [];
            const pods = of("Pod").filter(
                ({ metadata }) => metadata.namespace === namespace && selects(wanted.join(), metadata.labels),
            );
            return pods.map((pod): [string, StoredObject] => {
                const { name, uid, deletionTimestamp } = pod.metadata;
                const labels = {
                    "kubernetes.io/service-name": service,
                    "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
                };
                const declared = pod.spec?.containers?.flatMap(({ ports = [] }: any) => ports) ?? [];
                const numberOf = ({ port, targetPort = port }: any): number | undefined =>
                    typeof targetPort === "number"
                        ? targetPort
                        : declared.find((one: any) => one.name === targetPort)?.containerPort;
                const ports = (spec.ports ?? []).map((one: any) => ({ ...one, port: numberOf(one) }));
                const ready = pod.status?.conditions?.some(({ type, status }: any) => type + status === "ReadyTrue");
                const endpoint = {
                    addresses: [pod.status?.podIP].flat(),
                    conditions: { ready: spec.publishNotReadyAddresses ?? (Boolean(ready) && !deletionTimestamp) },
                    targetRef: { kind: "Pod", name, uid },
                };
                const metadata = { name: `${service}-${name}`, namespace, labels };
                const slice = { metadata, ports: ports.filter(({ port }: any) => port), endpoints: [endpoint] };
                return [keyOf("EndpointSlice", metadata), slice];
            });
        });
    }

    private create(kind: Kind, { namespace, body, dryRun }: FakeRequest): StoredObject {
        const key = keyOf(kind, { name: body.metadata.name, namespace });
        if (this.objects.has(key)) refuse(409, `${kind} "${body.metadata.name}" already exists`);
        if (dryRun) return copyOf(body);
        return copyOf(this.add(kind, body.metadata.name, copyOf(body), namespace));
    }

    private change(kind: Kind, request: FakeRequest, verb: "replace" | "patch"): StoredObject {
        const stored = this.stored(kind, request);
        const { uid, resourceVersion } = request.body.metadata ?? {};
        requireSame(stored, { uid, resourceVersion });
        const changed = verb === "patch" ? merged(stored, request.body, request.mergesLists) : copyOf(request.body);
        changed.metadata = { ...changed.metadata, uid: stored.metadata.uid, resourceVersion: String(++this.version) };
        this.changed(kind, stored, changed, request.body);
        if (request.dryRun) return changed;
        this.objects.set(keyOf(kind, stored.metadata), changed);
        return changed;
    }

    private delete(kind: Kind, request: FakeRequest): object {
        const stored = this.stored(kind, request);
        requireSame(stored, request.body?.preconditions ?? {});
        this.objects.delete(keyOf(kind, stored.metadata));
        return {};
    }
}

/** What the API server answers with an error. */
export function refuse(code: number, message: string): never {
    const reason = code === 404 ? "NotFound" : undefined;
    throw new ApiError(code, JSON.stringify({ kind: "Status", message, code, reason }));
}

const verbs: Record<string, string> = {
    GET: "get",
    POST: "create",
    PUT: "replace",
    PATCH: "patch",
    DELETE: "delete",
};

/** Kinds that belong to no namespace. */
const ofCluster = new Set([
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "StorageClass",
    "ValidatingWebhookConfiguration",
]);

const keyOf = (kind: string, { name, namespace }: { name: string; namespace?: string }) =>
    kind === "Namespace" ? `${kind} ${name}` : `${kind} ${namespace} ${name}`;

/** The name that a field selector wants. Undefined if it wants another field. */
const nameIn = (selector = "") => /^metadata\.name=(.+)$/.exec(selector)?.[1];

/** What a client gets is never the stored object itself. */
function copyOf<T>(object: T): T {
    return structuredClone(object);
}

function requireSame({ metadata }: StoredObject, expected: { uid?: string; resourceVersion?: string }): void {
    for (const field of ["uid", "resourceVersion"] as const) {
        const wanted = expected[field];
        if (wanted !== undefined && wanted !== metadata[field]) refuse(409, `the ${field} is ${metadata[field]}`);
    }
}

/** Comma-separated conditions: `key`, `!key`, `key=value` or `key in (one,another)`. */
function selects(selector: string | undefined, labels: Record<string, string> = {}): boolean {
    return (selector?.split(/,(?![^(]*\))/) ?? []).every((condition) => {
        if (condition.startsWith("!")) return !(condition.slice(1) in labels);
        const [, key, , equal, among] = /^([^= ]+)(=(.*)| in \((.*)\))?$/.exec(condition)!;
        if (among !== undefined) return among.split(",").includes(labels[key!]!);
        return equal === undefined ? key! in labels : labels[key!] === equal;
    });
}

/** A JSON merge patch (RFC 7396), or one that merges lists by the names of their entries. */
function merged(object: any, patch: any, mergesLists = false): any {
    if (mergesLists && Array.isArray(patch) && Array.isArray(object) && patch.every((one) => one?.name))
        return object.map((one) => merged(one, patch.find(({ name }) => name === one.name) ?? {}, mergesLists));
    if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
    const result = typeof object === "object" && object !== null ? { ...object } : {};
    for (const [key, value] of Object.entries(patch)) {
        if (value === null) delete result[key];
        else result[key] = merged(result[key], value, mergesLists);
    }
    return result;
}
