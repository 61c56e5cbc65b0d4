import { addresses, nodeName } from "./addresses";
import { callApi, type KubernetesObject } from "./api";
import { tryCommand } from "./command";
import { networkNamespaceFile } from "./network";

interface Condition {
    readonly type: string;
    readonly status: string;
    readonly lastHeartbeatTime?: string;
}

export interface Pod extends KubernetesObject {
    readonly status: {
        readonly phase: string;
        readonly conditions?: readonly Condition[];
        readonly containerStatuses?: readonly {
            state: { running?: { startedAt: string }; waiting?: { reason?: string } };
        }[];
    };
}

export function isReady({ status }: Pod): boolean {
    return status.conditions?.some(({ type, status: state }) => type === "Ready" && state === "True") ?? false;
}

/**
 * Whether the node is Ready according to the kubelet.
 *
 * @param since older reports do not count: the database still has those of the previous run.
 */
export async function nodeIsReady(since = new Date(0)): Promise<boolean> {
    const path = `/api/v1/nodes/${nodeName}`;
    const node = await callApi<{ status: { conditions?: Condition[] } }>(path).catch(() => undefined);
    const ready = node?.status.conditions?.find(({ type }) => type === "Ready");
    return ready?.status === "True" && isSince(ready.lastHeartbeatTime, since);
}

/** Whether a time from Kubernetes, in whole seconds, is not before another. */
function isSince(time: string | undefined, since: Date): boolean {
    return Date.parse(time ?? "") + 999 >= since.getTime();
}

/**
 * Whether the name server's pod is ready.
 *
 * @param since the start of this run. The database still has containers of the previous run. If its pod gets the same
 *     address again, names are resolved for a moment, until the kubelet's report removes the pod from its Service.
 */
export async function nameServerIsReady(since: Date): Promise<boolean> {
    const path = "/api/v1/namespaces/kube-system/pods?labelSelector=k8s-app=kube-dns";
    const pods = await callApi<{ items: Pod[] }>(path).catch(() => ({ items: [] }));
    return pods.items.some(
        (pod) =>
            isReady(pod) &&
            pod.status.containerStatuses?.every(({ state }) => isSince(state.running?.startedAt, since)),
    );
}

/** Whether the node is registered, Ready or not. */
export async function nodeIsRegistered(): Promise<boolean> {
    return callApi(`/api/v1/nodes/${nodeName}`).then(
        () => true,
        () => false,
    );
}

/**
 * Whether the name server answers at its Service address. This needs CoreDNS, its pod's network and kube-proxy's rules:
 * the answer proves that the whole node works.
 */
export async function clusterDnsAnswers(): Promise<boolean> {
    const question = `
        const resolver = new (require("node:dns").promises.Resolver)({ timeout: 500, tries: 1 });
        resolver.setServers(["${addresses.clusterDns}"]);
        resolver.resolve4("kubernetes.default.svc.${addresses.clusterDomain}").then(
            ([address]) => process.exit(address === "${addresses.apiService}" ? 0 : 1), () => process.exit(1));`;
    const asked = await tryCommand("nsenter", [`--net=${networkNamespaceFile}`, process.execPath, "-e", question]);
    return asked.code === 0;
}
