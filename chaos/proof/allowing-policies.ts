import type {
    V1LabelSelector,
    V1NetworkPolicy,
    V1NetworkPolicyPeer,
    V1NetworkPolicyPort,
} from "@kubernetes/client-node";
import type { Cluster } from "../cluster/client";
import { labels } from "../cluster/labels";
import type { Target } from "../targets/containers";

type Way = "ingress" | "egress";

/** Connections that an attack must cut, and that still work. */
export interface Working {
    /** As the targets' NetworkPolicies see them. */
    ways: readonly Way[];
    /** At the targets for ingress, elsewhere for egress. @default any */
    ports?: readonly number[];
    /** Who else takes part: the deadline Job's pod, nobody of the targets' namespace, or unknown pods. */
    with: "witness" | "outside" | "unknown";
}

type Labels = Readonly<Record<string, string>>;

/** A pod, as far as NetworkPolicies see it. */
export interface LabeledPod {
    name: string;
    labels: Labels;
}

/**
 * Finds a NetworkPolicy that allows what an attack denies: policies add up, so one that allows a connection outweighs
 * those that do not. Experiments' own policies do not count. Peers that need a look at other namespaces or at addresses
 * are taken to include the other side.
 *
 * @param policies all of the targets' namespace
 * @param others the pods of that namespace that may be the other side. Undefined if they are not known
 */
export function allowingPolicy(
    policies: readonly V1NetworkPolicy[],
    targets: readonly LabeledPod[],
    { way, ports }: { way: Way; ports?: readonly number[] },
    others?: readonly LabeledPod[],
): { policy: string; pod: string } | undefined {
    for (const { metadata, spec } of policies) {
        if (spec === undefined || metadata?.labels?.[labels.experiment] !== undefined) continue;
        const rules =
            way === "ingress"
                ? (spec.ingress ?? []).map((rule) => ({ ports: rule.ports, peers: rule._from }))
                : (spec.egress ?? []).map((rule) => ({ ports: rule.ports, peers: rule.to }));
        const applies = spec.policyTypes?.includes(way === "ingress" ? "Ingress" : "Egress") ?? true;
        if (!applies || !rules.some((rule) => allowsPorts(rule.ports, ports) && allowsPeers(rule.peers, others)))
            continue;
        const pod = targets.find((target) => selects(spec.podSelector, target.labels));
        if (pod !== undefined) return { policy: metadata!.name!, pod: pod.name };
    }
    return undefined;
}

/** A named port may be any. */
function allowsPorts(allowed: readonly V1NetworkPolicyPort[] = [], ports?: readonly number[]): boolean {
    if (allowed.length === 0 || ports === undefined) return true;
    return allowed.some(({ port, endPort }) => {
        const first = Number(port ?? NaN);
        return Number.isNaN(first) || ports.some((one) => one >= first && one <= (endPort ?? first));
    });
}

function allowsPeers(peers: readonly V1NetworkPolicyPeer[] = [], others?: readonly LabeledPod[]): boolean {
    if (peers.length === 0 || others === undefined) return true;
    return peers.some(
        ({ podSelector, namespaceSelector, ipBlock }) =>
            namespaceSelector !== undefined ||
            ipBlock !== undefined ||
            others.some((other) => selects(podSelector, other.labels)),
    );
}

/** Whether a label selector selects: all its conditions hold. A selector without conditions selects everything. */
export function selects({ matchLabels = {}, matchExpressions = [] }: V1LabelSelector = {}, of: Labels): boolean {
    return (
        Object.entries(matchLabels).every(([key, value]) => of[key] === value) &&
        matchExpressions.every(({ key, operator, values = [] }) => {
            const value = of[key];
            const isAmong = value !== undefined && values.includes(value);
            switch (operator) {
                case "In":
                    return isAmong;
                case "NotIn":
                    return !isAmong;
                case "Exists":
                    return value !== undefined;
                case "DoesNotExist":
                    return value === undefined;
                default:
                    return false;
            }
        })
    );
}

/**
 * Why connections to or from targets work under attack, if another NetworkPolicy allows them: the policy, and what to
 * do. Undefined if there is none, or if the cluster cannot be asked: an account may lack the rights.
 */
export async function explainWorking(
    { core, networking }: Cluster,
    targets: readonly Target[],
    working: Working,
): Promise<string | undefined> {
    const { namespace } = targets[0]!;
    const lists = Promise.all([
        networking.listNamespacedNetworkPolicy({ namespace }),
        core.listNamespacedPod({ namespace }),
    ]);
    const found = await lists.catch(() => undefined);
    if (found === undefined) return undefined;
    const [{ items: policies }, { items: all }] = found;
    const pods = all.map(({ metadata }) => ({
        name: metadata!.name!,
        uid: metadata!.uid!,
        labels: metadata!.labels ?? {},
    }));
    const others = {
        witness: pods.filter((pod) => labels.experiment in pod.labels),
        outside: [],
        unknown: undefined,
    }[working.with];
    const targeted = pods.filter(({ uid }) => targets.some((target) => target.uid === uid));
    for (const way of working.ways) {
        const allowing = allowingPolicy(policies, targeted, { way, ports: working.ports }, others);
        if (allowing === undefined) continue;
        const { policy, pod } = allowing;
        const direction = way === "ingress" ? "ingress to" : "egress from";
        return (
            `the NetworkPolicy ${policy} allows ${direction} the target ${pod}, so the ` +
            "attack cannot cut it off: NetworkPolicies add up. Narrow or delete that policy for the run, or choose " +
            `another target; look at: kubectl --namespace ${namespace} describe networkpolicy ${policy}`
        );
    }
    return undefined;
}
