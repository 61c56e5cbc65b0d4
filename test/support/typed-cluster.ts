import {
    AdmissionregistrationV1Api,
    type ApiConstructor,
    ApiException,
    type ApiType,
    AppsV1Api,
    AuthorizationV1Api,
    BatchV1Api,
    CoordinationV1Api,
    CoreV1Api,
    CustomObjectsApi,
    DiscoveryV1Api,
    KubeConfig,
    NetworkingV1Api,
    PatchStrategy,
    RbacAuthorizationV1Api,
    setHeaderOptions,
    StorageV1Api,
} from "@kubernetes/client-node";
import {
    type Cluster,
    type ClusterAccess,
    connect as connectOwn,
    messageOf as messageOfOwn,
    statusOf as statusOfOwn,
} from "../../chaos/cluster/client";
import type { Json } from "../../chaos/values/kubernetes-types";

/** The parts of the Kubernetes API that tests use as another person would, by the library's calls. */
const apis = {
    admission: AdmissionregistrationV1Api,
    core: CoreV1Api,
    apps: AppsV1Api,
    authorization: AuthorizationV1Api,
    batch: BatchV1Api,
    coordination: CoordinationV1Api,
    custom: CustomObjectsApi,
    discovery: DiscoveryV1Api,
    networking: NetworkingV1Api,
    rbac: RbacAuthorizationV1Api,
    storage: StorageV1Api,
};

/** The same calls, with what they give as JSON has it. */
type InJson<Api> = {
    [Call in keyof Api]: Api[Call] extends (...args: never[]) => Promise<infer Given>
        ? (request?: any, options?: any) => Promise<Json<Given>>
        : Api[Call];
};

export type TypedCluster = Cluster & { library: KubeConfig } & {
    [A in keyof typeof apis]: InJson<InstanceType<(typeof apis)[A]>>;
};

/** This package's client of a cluster, and the library's beside it. */
export function connect(access: ClusterAccess, timeoutMs?: number): TypedCluster {
    const cluster = connectOwn(access, timeoutMs);
    const library = new KubeConfig();
    if (access.kubeconfig === undefined) library.loadFromDefault();
    else library.loadFromString(access.kubeconfig);
    library.setCurrentContext(cluster.kubeconfig.getCurrentContext());
    return { ...cluster, library, ...typedApis(library) };
}

function typedApis(library: KubeConfig) {
    const clients = Object.entries<ApiConstructor<ApiType>>(apis).map(([name, Api]) => [name, inJson(library, Api)]);
    return Object.fromEntries(clients) as { [A in keyof typeof apis]: InJson<InstanceType<(typeof apis)[A]>> };
}

function inJson<Api extends ApiType>(library: KubeConfig, Api: ApiConstructor<Api>): InJson<Api> {
    const client = library.makeApiClient(Api) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const get =
        (_: object, call: string) =>
        async (...args: unknown[]) =>
            plain(await client[call]!(...args));
    return new Proxy({}, { get: (target, call) => (call === "then" ? undefined : get(target, String(call))) }) as never;
}

/** The library makes Dates of times, and calls `from` `_from`. */
function plain(value: unknown): unknown {
    if (value instanceof Date) return value.toISOString();
    if (Array.isArray(value)) return value.map(plain);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key.replace(/^_/, ""), plain(one)]));
}

export const mergePatch = () => setHeaderOptions("Content-Type", PatchStrategy.MergePatch);

export const statusOf = (error: unknown): number | undefined =>
    error instanceof ApiException ? error.code : statusOfOwn(error);

export const messageOf = (error: unknown): string =>
    error instanceof ApiException ? JSON.stringify(error.body) : messageOfOwn(error);

/** The result of a call. Undefined if there is no such thing. */
export const ignoreNotFound = <T>(call: Promise<T>): Promise<T | undefined> =>
    call.catch((error: unknown) => {
        if (statusOf(error) === 404) return undefined;
        throw error;
    });
