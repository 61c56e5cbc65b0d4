import { isReady } from "../../shared/containers";
import { addresses, nodeName } from "./addresses";
import type { SandboxApi } from "./api";
import { tryCommand } from "./command";
import { networkNamespaceFile } from "./network";

interface Condition {
    readonly type: string;
    readonly status: string;
    readonly lastHeartbeatTime?: string;
}

interface Pod {
    readonly status: {
        readonly conditions?: readonly Condition[];
        readonly containerStatuses?: readonly { state: { running?: { startedAt: string } } }[];
    };
}

/**
 * Whether the node is Ready, as the kubelet said itself.
 *
 * @param since a state from before this moment does not count: the database remembers the node's last life.
 */
export async function nodeIsReady(api: SandboxApi, since = new Date(0)): Promise<boolean> {
    const node = await api
        .call<{ status: { conditions?: Condition[] } }>("GET", `/api/v1/nodes/${nodeName}`)
        .catch(() => undefined);
    const ready = node?.status.conditions?.find(({ type }) => type === "Ready");
    return ready?.status === "True" && isSince(ready.lastHeartbeatTime, since);
}

/** Whether a moment that Kubernetes tells, in whole seconds, is no earlier than another. */
function isSince(time: string | undefined, since: Date): boolean {
    return Date.parse(time ?? "") + 999 >= since.getTime();
}

/**
 * Whether the name server's pod is ready.
 *
 * @param since when this life of the node began. A container from before it is remembered by the database, not by the
 *     kubelet; names are answered for a moment all the same where the pod has got the same address again, until the
 *     kubelet has its Service forget it.
 */
export async function nameServerIsReady(api: SandboxApi, since: Date): Promise<boolean> {
    const pods = await api
        .call<{ items: Pod[] }>("GET", "/api/v1/namespaces/kube-system/pods?labelSelector=k8s-app=kube-dns")
        .catch(() => ({ items: [] }));
    return pods.items.some(
        (pod) =>
            isReady(pod) &&
            pod.status.containerStatuses?.every(({ state }) => isSince(state.running?.startedAt, since)),
    );
}

/** Whether the node is registered with the API, Ready or not. */
export async function nodeIsRegistered(api: SandboxApi): Promise<boolean> {
    return api.call("GET", `/api/v1/nodes/${nodeName}`).then(
        () => true,
        () => false,
    );
}

/**
 * Whether the cluster's name server answers at its Service address: that takes CoreDNS, its pod's network and
 * kube-proxy's rules, so it is the one question whose answer proves the whole node.
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
