import { addresses, nodeName } from "./addresses";
import type { SandboxApi } from "./api";
import { tryCommand } from "./command";
import { networkNamespaceFile } from "./network";

interface Condition {
    readonly type: string;
    readonly status: string;
    readonly lastHeartbeatTime?: string;
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
    // Kubernetes keeps whole seconds.
    const heartbeat = Date.parse(ready?.lastHeartbeatTime ?? "") + 999;
    return ready?.status === "True" && heartbeat >= since.getTime();
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
