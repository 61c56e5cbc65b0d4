import { addresses } from "./addresses";
import { perFamily } from "./choices";
import { callApi, deleteAt, type KubernetesObject } from "./api";
import { tryCommand } from "../../toolchain/run-command";
import { firstNode, networkNamespaceFileOf, type SandboxNode } from "./nodes";

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
 * Whether a node is Ready according to its kubelet.
 *
 * @param since older reports do not count: the database still has those of the previous run.
 */
export async function nodeIsReady({ name }: SandboxNode, since = new Date(0)): Promise<boolean> {
    const path = `/api/v1/nodes/${name}`;
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

/** Whether a node is registered with its addresses of each family, Ready or not. */
export async function nodeIsRegistered({ name, address, addressIpv6 }: SandboxNode): Promise<boolean> {
    const node = callApi<{ status: { addresses?: { address: string }[] } }>(`/api/v1/nodes/${name}`);
    const { status } = await node.catch(() => ({ status: { addresses: undefined } }));
    const known = status.addresses?.map((each) => each.address) ?? [];
    return perFamily(address, addressIpv6).every((each) => known.includes(each));
}

/** Removes a node that is no longer there from the cluster, with its pods: nobody else would end them. */
export async function forgetNode(name: string): Promise<void> {
    await deleteAt(`/api/v1/nodes/${name}`);
    const { items } = await callApi<{ items: Pod[] }>(`/api/v1/pods?fieldSelector=spec.nodeName=${name}`);
    await Promise.all(
        items.map(({ metadata }) =>
            deleteAt(`/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}?gracePeriodSeconds=0`),
        ),
    );
}

/**
 * Whether the name server answers at its Service address of each family. This needs CoreDNS, its pod's network and
 * kube-proxy's rules: the answer proves that the whole node works.
 */
export async function clusterDnsAnswers(): Promise<boolean> {
    const servers = perFamily(addresses.clusterDns, `[${addresses.clusterDnsIpv6}]`);
    return (await Promise.all(servers.map(answersAsNameServer))).every(Boolean);
}

async function answersAsNameServer(server: string): Promise<boolean> {
    const question = `
        const resolver = new (require("node:dns").promises.Resolver)({ timeout: 500, tries: 1 });
        resolver.setServers(["${server}"]);
        resolver.resolve4("kubernetes.default.svc.${addresses.clusterDomain}").then(
            ([address]) => process.exit(address === "${addresses.apiService}" ? 0 : 1), () => process.exit(1));`;
    return runsInNetwork(firstNode, question);
}

/** Whether a program on a node answers an HTTP request with 200. @param url an address of the node itself */
export async function answersOnNode(node: SandboxNode, url: string): Promise<boolean> {
    const question = `fetch("${url}", { signal: AbortSignal.timeout(500) }).then(
            ({ status }) => process.exit(status === 200 ? 0 : 1), () => process.exit(1));`;
    return runsInNetwork(node, question);
}

/** Whether a program of Node ends without an error in the network namespace of a node. */
async function runsInNetwork(node: SandboxNode, program: string): Promise<boolean> {
    const inside = [`--net=${networkNamespaceFileOf(node)}`, process.execPath, "-e", program];
    return (await tryCommand("nsenter", inside)).code === 0;
}
