import { ApiException, AppsV1Api, BatchV1Api, CoordinationV1Api, CoreV1Api, KubeConfig, NetworkingV1Api, RbacAuthorizationV1Api, StorageV1Api } from "@kubernetes/client-node";
import { loadKubeconfig } from "./kubeconfig";

/** The parts of the Kubernetes API that this project reads and writes outside of its resources. */
export interface Cluster {
    kubeconfig: KubeConfig;
    core: CoreV1Api;
    apps: AppsV1Api;
    batch: BatchV1Api;
    coordination: CoordinationV1Api;
    networking: NetworkingV1Api;
    rbac: RbacAuthorizationV1Api;
    storage: StorageV1Api;
}

/** A cluster by its kubeconfig context. */
export function connect(context: string): Cluster {
    const kubeconfig = loadKubeconfig();
    kubeconfig.setCurrentContext(context);
    return {
        kubeconfig,
        core: kubeconfig.makeApiClient(CoreV1Api),
        apps: kubeconfig.makeApiClient(AppsV1Api),
        batch: kubeconfig.makeApiClient(BatchV1Api),
        coordination: kubeconfig.makeApiClient(CoordinationV1Api),
        networking: kubeconfig.makeApiClient(NetworkingV1Api),
        rbac: kubeconfig.makeApiClient(RbacAuthorizationV1Api),
        storage: kubeconfig.makeApiClient(StorageV1Api),
    };
}

/** The HTTP status of a failed call; undefined where there was no answer. */
export function statusOf(error: unknown): number | undefined {
    return error instanceof ApiException ? error.code : undefined;
}

/** What went wrong, in the API server's own words where it was that which refused: the client's are the whole answer. */
export function reasonOf(error: unknown): string {
    if (error instanceof ApiException) return statusMessageOf(error.body) ?? `the API server answered with status ${error.code}`;
    return error instanceof Error ? error.message : String(error);
}

/** `message` of a Status object, which comes as its text where the client knows no such answer. */
function statusMessageOf(body: unknown): string | undefined {
    try {
        const status = (typeof body === "string" ? JSON.parse(body) : body) as { message?: string } | null;
        return status?.message;
    } catch {
        return undefined;
    }
}

/** What a call gives, or undefined where the object is not there. */
export async function orMissing<T>(call: Promise<T>): Promise<T | undefined> {
    try {
        return await call;
    } catch (error) {
        if (statusOf(error) === 404) return undefined;
        throw error;
    }
}
