import {
    ApiException,
    AppsV1Api,
    BatchV1Api,
    CoordinationV1Api,
    CoreV1Api,
    KubeConfig,
    NetworkingV1Api,
    RbacAuthorizationV1Api,
    StorageV1Api,
} from "@kubernetes/client-node";
import { Agent } from "node:https";
import { isDeepStrictEqual } from "node:util";
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

/** How long a call may take: a connection that is dead after this machine slept would be waited for for many minutes. */
const callTimeoutMs = 30_000;

/**
 * A cluster by its kubeconfig context.
 *
 * @param timeoutMs how long each call to it may take, in milliseconds
 */
export function connect(context: string, timeoutMs = callTimeoutMs): Cluster {
    const kubeconfig = loadKubeconfig();
    kubeconfig.setCurrentContext(context);
    keepConnections(kubeconfig, timeoutMs);
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

/** A connection that was idle for longer may be known no more to what is between here and the cluster. */
const idleMs = 2_000;

/**
 * Has the API clients of a kubeconfig use their connections again. The library makes a new one for each call, and proves
 * with a certificate who it is, which takes longer than most of the calls. And ends each call that takes too long.
 */
function keepConnections(kubeconfig: KubeConfig, timeoutMs: number): void {
    const apply = kubeconfig.applySecurityAuthentication.bind(kubeconfig);
    let made: Agent | undefined;
    let kept: Agent | undefined;
    kubeconfig.applySecurityAuthentication = async (context) => {
        await apply(context);
        context.setSignal(AbortSignal.timeout(timeoutMs));
        const agent = context.getAgent() as Agent | undefined;
        // Its subclasses lead through proxies, and have options of their own.
        if (agent?.constructor !== Agent) return;
        // Credentials may be others by now.
        if (!isDeepStrictEqual(agent.options, made?.options))
            kept = new Agent({ ...agent.options, keepAlive: true, timeout: idleMs });
        made = agent;
        context.setAgent(kept!);
    };
}

/** The HTTP status of a failed call; undefined where there was no answer. */
export function statusOf(error: unknown): number | undefined {
    return error instanceof ApiException ? error.code : undefined;
}

/** What went wrong, in the API server's own words where it was that which refused: the client's are the whole answer. */
export function reasonOf(error: unknown): string {
    if (error instanceof ApiException)
        return statusMessageOf(error.body) ?? `the API server answered with status ${error.code}`;
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
