import { ApiException, AppsV1Api, BatchV1Api, CoordinationV1Api, CoreV1Api, KubeConfig, NetworkingV1Api, RbacAuthorizationV1Api } from "@kubernetes/client-node";

/** The user's kubeconfig cannot be read. */
export class KubeconfigError extends Error {
    constructor(message: string) {
        super(message);
        this.name = "KubeconfigError";
    }
}

/**
 * The user's kubeconfig, from where kubectl looks for it (`KUBECONFIG`, then `~/.kube/config`). One without any
 * context where there is no file.
 *
 * @throws KubeconfigError where a file is there and cannot be read.
 */
export function loadKubeconfig(): KubeConfig {
    const kubeconfig = new KubeConfig();
    try {
        kubeconfig.loadFromDefault();
    } catch (error) {
        const where = process.env.KUBECONFIG ?? "~/.kube/config";
        throw new KubeconfigError(`the kubeconfig (${where}) cannot be read: ${(error as Error).message}; mend it, or set KUBECONFIG to another`);
    }
    // Where there is no kubeconfig at all, the library makes one up that leads to port 8080 of this machine.
    return kubeconfig.getCurrentContext() === "loaded-context" ? new KubeConfig() : kubeconfig;
}

/** The parts of the Kubernetes API that this project reads and writes outside of its resources. */
export interface Cluster {
    kubeconfig: KubeConfig;
    core: CoreV1Api;
    apps: AppsV1Api;
    batch: BatchV1Api;
    coordination: CoordinationV1Api;
    networking: NetworkingV1Api;
    rbac: RbacAuthorizationV1Api;
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
    };
}

/** The HTTP status of a failed call; undefined where there was no answer. */
export function statusOf(error: unknown): number | undefined {
    return error instanceof ApiException ? error.code : undefined;
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
