import type { V1Service } from "../values/kubernetes-types";
import { isIP } from "node:net";
import { inTurns } from "../values/async";
import { describeBlock, isProvenAt } from "../kinds/attacks/addresses";
import { type PeerHost, type StillWorks, usualPorts } from "../kinds/attacks/attack-kind";
import { attackKindOf } from "../kinds/attacks/registry";
import type { Cluster } from "../cluster/client";
import { addressesOf, hasEnded, serviceNamed } from "../values/kubernetes-rules";
import type { RunAttack } from "../definition/plan";
import { kubectlFor } from "../values/kubectl";
import { contains, isInBlock } from "../policies/blocks";
import { peersIn } from "../policies/denial";
import { ReasonError } from "../values/reasons";
import type { ResolvedHost } from "../targets/choose";
import { addressesOfTarget, type Discovered, type Target } from "../targets/containers";
import { onePerPod } from "../targets/pods";
import { tryWithin } from "./try-within";
import { addressesIn } from "./tools";
import { resources } from "../cluster/resources";

/** A name server that is busy may take a second. */
const timeoutMs = 2_000;
/** A packet of a lookup may be lost. */
const attempts = 2;
/** A process in a pod costs its node some 70 ms. */
const maxAtATime = 5;

/**
 * Finds the addresses of an attack's hosts, as its targets resolve them.
 *
 * @param attack its targets have what names can be looked up with
 * @throws ReasonError if a host has no address, or one that the attack's policy does not apply to
 */
export async function resolveHosts(
    cluster: Cluster,
    attack: RunAttack,
    discovered: readonly Discovered[],
): Promise<RunAttack> {
    const { addresses, stillWorks = {} } = attackKindOf(attack.attack).proof(attack.attack);
    if (addresses === undefined) return attack;
    const targets = onePerPod(attack.chosen.targets);
    const found = await resolved(cluster, targets, addresses.hosts);
    // All: the API server selects them by no address but the cluster's. An account may not look.
    const services = await cluster.all(resources.service).catch(() => []);
    for (const host of found) await requireFit(cluster, attack, host, { discovered, services });
    const hosts = await inTurns(found, 1, (host) => withPort(cluster, targets[0]!, host));
    for (const block of addresses.blocks) {
        const isProven = hosts.some(({ port, addresses: all }) =>
            all.some((host) => isProvenAt(block, { host, port })),
        );
        if (isProven) continue;
        throw new ReasonError(
            "peers-unfit",
            `no host of the peers is in ${describeBlock(block)}, so it could not be proven: ${describeHosts(hosts)}`,
            "Add the { host, port } of something that answers there",
        );
    }
    const chosen = { ...attack.chosen, hosts };
    const control = stillWorks.host && (await controlOf(cluster, attack, stillWorks.host, hosts));
    return { ...attack, chosen: control ? { ...chosen, control } : chosen };
}

/** For people: `api.example.com is 203.0.113.7 in the targets`. Empty if no host is a name. */
export const describeHosts = (hosts: readonly ResolvedHost[]): string =>
    namedIn(hosts)
        .map(({ host, addresses }) => `${host} is ${addresses.join(", ")} in the targets`)
        .join("; ");

/** The hosts that are names, each name once. */
export const namedIn = (hosts: readonly ResolvedHost[]): ResolvedHost[] => [
    ...new Map(hosts.flatMap((one) => (isIP(one.host) === 0 ? [[one.host, one]] : []))).values(),
];

/** @throws ReasonError if a target finds no address */
async function resolved<H extends PeerHost>(
    cluster: Cluster,
    targets: readonly Target[],
    hosts: readonly H[],
): Promise<(H & { addresses: string[] })[]> {
    const found = new Map<string, string[]>();
    for (const { host } of hosts) {
        if (found.has(host)) continue;
        const look = (target: Target) => addressesFrom(cluster, target, host);
        const all = isIP(host) > 0 ? [host] : (await inTurns(targets, maxAtATime, look)).flat();
        found.set(host, [...new Set(all)].sort());
    }
    return hosts.map((one) => ({ ...one, addresses: found.get(one.host)! }));
}

/** @throws ReasonError if a host has no port, and none of the usual ones answers the target */
async function withPort(
    cluster: Cluster,
    target: Target,
    { host, port, addresses }: PeerHost & { addresses: string[] },
): Promise<ResolvedHost> {
    if (port !== undefined) return { host, port, addresses };
    for (const usual of usualPorts)
        for (const address of addresses) {
            const answer = await tryWithin(cluster, target, { connect: { host: address, port: usual } }, timeoutMs);
            if ("problem" in answer) throw new ReasonError("probe-failed", answer.problem, "Start another run");
            if (answer.worked) return { host, port: usual, addresses, allPorts: true };
        }
    throw new ReasonError(
        "baseline-failed",
        `nothing answered ${target.pod} at ${host} (${addresses.join(", ")}), port ${usualPorts.join(" or ")}, ` +
            "before the attack",
        `Name the port at which it answers: { host: "${host}", port: PORT }`,
    );
}

async function addressesFrom(cluster: Cluster, target: Target, host: string): Promise<string[]> {
    const { found, problem } = await lookUp(cluster, target, host, timeoutMs);
    if (found.length > 0) return found;
    if (problem !== undefined) throw new ReasonError("probe-failed", problem, "Start another run");
    throw new ReasonError(
        "peers-unfit",
        noAddress(target, host),
        `Look it up there: ${kubectlFor(cluster, target.namespace)} exec ${target.pod} -- getent ahosts ${host}`,
    );
}

/** The addresses that a target finds for a name. If there are none, perhaps why it could not be looked up. */
export async function lookUp(
    cluster: Cluster,
    target: Target,
    host: string,
    timeoutMs: number,
): Promise<{ found: string[]; problem?: string }> {
    for (let attempt = 1; ; attempt++) {
        const answer = await tryWithin(cluster, target, { resolve: host }, timeoutMs);
        const found = "output" in answer ? addressesIn(answer.output) : [];
        if (found.length > 0 || attempt === attempts)
            return { found, ...("problem" in answer && { problem: answer.problem }) };
    }
}

export const noAddress = ({ pod }: Target, host: string) => `${pod} finds no address for the name ${host}`;

/** @throws ReasonError if an address is in the targets' pods, another's, or a Service's */
async function requireFit(
    cluster: Cluster,
    { namespace }: RunAttack,
    { host, port, addresses }: PeerHost & { addresses: string[] },
    { discovered, services }: { discovered: readonly Discovered[]; services: readonly V1Service[] },
): Promise<void> {
    const local = addresses.find((one) =>
        ["127.0.0.0/8", "0.0.0.0/32", "::1/128", "::/128"].some((of) => contains(of, one)),
    );
    if (local !== undefined)
        throw new ReasonError(
            "peers-unfit",
            `${host} is ${local} in the targets, which is the pod itself, and no NetworkPolicy applies there`,
            "Choose a host outside of the targets",
        );
    const pod =
        discovered.find((one) => addressesOfTarget(one).some((address) => addresses.includes(address))) ??
        (await podAt(cluster, addresses));
    if (pod)
        throw new ReasonError(
            "peers-unfit",
            `${host} is the pod ${pod.pod} in namespace ${pod.namespace}, and networks differ in whether an address ` +
                "in a NetworkPolicy applies to a pod",
            "Describe pods by attributes, as in peers: k8s.deployment=NAME",
        );
    const named = serviceNamed(host, namespace);
    // It may be read alone.
    const read = named && (await cluster.read({ resource: resources.service, ...named }).catch(() => undefined));
    const service = [...(read ? [read] : []), ...services].find((one) =>
        leadsTo(one, { host, port, addresses }),
    )?.metadata;
    if (service)
        throw new ReasonError(
            "peers-unfit",
            // https://kubernetes.io/docs/concepts/services-networking/network-policies/#behavior-of-ipblock-selectors
            `${host} is the Service ${service.name} in namespace ${service.namespace}, and networks differ in ` +
                "whether a NetworkPolicy sees its address or those behind it",
            "Describe the pods behind it by attributes, as in peers: k8s.deployment=NAME; or name their addresses",
        );
}

/**
 * A pod of any namespace that has one of some addresses. Undefined if there is none, or the account may not look: it
 * finds out when the attack is proven.
 */
async function podAt(cluster: Cluster, addresses: readonly string[]) {
    // The API server selects pods only by their first address.
    const lists = addresses.map((one) =>
        cluster.all(resources.pod, { fieldSelector: `status.podIP=${one}` }).catch(() => []),
    );
    const pod = (await Promise.all(lists))
        .flat()
        // If a pod is on its node's network, the address is the node's.
        .filter((one) => !one.spec?.hostNetwork && !hasEnded(one))
        .find((one) => addressesOf(one).some((address) => addresses.includes(address)));
    return pod && { pod: pod.metadata!.name!, namespace: pod.metadata!.namespace! };
}

/**
 * Whether nodes lead connections from their pods to an address to the pods of a Service. An address of a load balancer
 * or of a node may be several Services', each with other ports.
 * https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/
 */
function leadsTo({ spec, status }: V1Service, { port, addresses }: PeerHost & { addresses: string[] }): boolean {
    const { clusterIP, clusterIPs = [clusterIP], externalIPs = [], ports = [] } = spec ?? {};
    const balancers = status?.loadBalancer?.ingress ?? [];
    const outer = [...externalIPs, ...balancers.flatMap(({ ip, ipMode }) => (ipMode === "Proxy" ? [] : ip))];
    const atPort = port === undefined || ports.some((one) => one.port === port) ? outer : [];
    return [...clusterIPs, ...atPort].some((one) => one !== undefined && addresses.includes(one));
}

/**
 * What must still be reached: those addresses that the attack leaves alone. Undefined if there is none, and nobody
 * named it. @throws ReasonError if somebody did
 */
async function controlOf(
    cluster: Cluster,
    { attack, chosen }: RunAttack,
    { isDefault, ...host }: NonNullable<StillWorks["host"]>,
    hosts: readonly ResolvedHost[],
): Promise<ResolvedHost | undefined> {
    const [found] = await resolved(cluster, onePerPod(chosen.targets), [host]).catch((error: unknown) => {
        // A pod with name servers of its own may not know the API server.
        if (isDefault) return [];
        throw error;
    });
    const denied = [
        ...(attackKindOf(attack).denies!(attack).blocks ?? []),
        ...peersIn({ hosts: [...hosts] }).blocks!,
    ].filter(({ ports }) => ports?.includes(host.port) ?? true);
    const addresses = found?.addresses.filter((one) => !denied.some((block) => isInBlock(block, one))) ?? [];
    if (addresses.length > 0) return { ...host, addresses };
    if (isDefault) return undefined;
    throw new ReasonError(
        "peers-unfit",
        `the control ${host.host} at port ${host.port} is ${found!.addresses.join(", ")} in the targets, which the ` +
            "attack denies",
        "Name a host that it leaves alone",
    );
}
