import type { V1NetworkPolicy } from "../values/kubernetes-types";
import { kubectlFor } from "../values/kubectl";
import type { Cluster } from "../cluster/client";
import { addressesOf, hasEnded, type Pod } from "../values/kubernetes-rules";
import { isOthersPolicy, labels } from "../cluster/labels";
import { allowsPeer, allowsPort } from "../policies/allows";
import { type Protocol, type Rule, rulesOf, type Way } from "../policies/rules";
import { type Labels, selects } from "../policies/selector";
import { reason, type Reason } from "../values/reasons";
import type { Target } from "../targets/containers";
import { otherResources, resources } from "../cluster/resources";

/** Connections that an attack must cut, and that still work. */
export interface Working {
    /** As the targets' NetworkPolicies see them. */
    ways: readonly Way[];
    /** At the targets for ingress, elsewhere for egress. @default any */
    ports?: readonly number[];
    /** Those that matter most first. @default TCP */
    protocols?: readonly Protocol[];
    /** Who else takes part: the deadline Job's pod, nobody of the targets' namespace, or unknown pods. */
    with: "witness" | "outside" | "unknown";
}

/** A pod, as far as NetworkPolicies see it. */
export interface LabeledPod {
    name: string;
    labels: Labels;
    /** @default none */
    addresses?: readonly string[];
    /** Its containers, whose ports have names. @default not known */
    spec?: Pod["spec"];
}

/** The pods of the targets' namespace that may be the other side, and the labels of that namespace. */
export interface OtherSide {
    pods: readonly LabeledPod[];
    namespace: Labels;
}

/**
 * Finds a NetworkPolicy that allows what an attack denies: policies add up, so one that allows a connection outweighs
 * those that do not. Of several, one that allows the first of the protocols counts: one that allows only UDP lets no
 * request through.
 *
 * @param policies of others in the targets' namespace
 * @param other undefined if it is not known; "outside" if it is nobody of the targets' namespace
 * @returns `isSure` is false if the policy's peers may not include the other side, which is not known
 */
export function allowingPolicy(
    policies: readonly V1NetworkPolicy[],
    targets: readonly LabeledPod[],
    { ways, ports, protocols = ["TCP"] }: Pick<Working, "ways" | "ports" | "protocols">,
    other?: OtherSide | "outside",
) {
    // Each target: the same name may be that of another port in another pod.
    const selecting = policies.flatMap(({ metadata, spec }) =>
        targets.flatMap((pod) =>
            spec && selects(spec.podSelector, pod.labels) ? [{ policy: metadata!.name!, pod, spec }] : [],
        ),
    );
    for (const protocol of protocols)
        for (const way of ways)
            for (const { policy, pod, spec } of selecting) {
                const portOf = way === "ingress" && pod.spec ? { spec: pod.spec } : undefined;
                const mayAllow = (rule: Rule) =>
                    (ports ?? [undefined]).some((port) => allowsPort(rule, { port, protocol, portOf })) &&
                    mayAllowPeer(rule, other);
                const allowed = rulesOf(spec, way).filter(mayAllow);
                if (allowed.length === 0) continue;
                const isSure = typeof other === "object" || allowed.some(({ peers = [] }) => peers.length === 0);
                return { way, policy, pod: pod.name, isSure };
            }
    return undefined;
}

/** @param other as `allowingPolicy` has it */
function mayAllowPeer(rule: Rule, other?: OtherSide | "outside"): boolean {
    const { peers = [] } = rule;
    if (peers.length === 0 || other === undefined) return true;
    if (other === "outside") return peers.some((peer) => peer.namespaceSelector ?? peer.ipBlock);
    return other.pods.some((pod) => allowsPeer(rule, { ...pod, namespace: other.namespace }));
}

/**
 * Why connections to or from targets work under attack, if another NetworkPolicy allows them: the policy, and what to
 * do. Undefined if there is none, or if the cluster cannot be asked: an account may lack the rights.
 */
export async function explainWorking(
    cluster: Cluster,
    run: string,
    targets: readonly Target[],
    working: Working,
): Promise<Reason | undefined> {
    const { namespace } = targets[0]!;
    const listed = await cluster.all(resources.networkPolicy, { namespace }).catch(() => []);
    const policies = listed.filter((policy) => isOthersPolicy(policy, run));
    // Asked every few seconds of a window: the namespace may have thousands of pods.
    if (policies.length === 0) return undefined;
    const found = await cluster.all(resources.pod, { namespace }).catch(() => []);
    const living = found.filter((pod) => !hasEnded(pod));
    const pods = living.map(({ metadata, status, spec }) => ({
        name: metadata!.name!,
        uid: metadata!.uid!,
        labels: metadata!.labels ?? {},
        addresses: addressesOf({ status }),
        spec,
    }));
    // Every namespace has this label. Its others may be hidden from this account.
    const named = { "kubernetes.io/metadata.name": namespace };
    const read = await cluster.read({ resource: otherResources.namespace, name: namespace }).catch(() => undefined);
    const other = {
        witness: {
            pods: pods.filter((pod) => labels.experiment in pod.labels),
            namespace: { ...read?.metadata?.labels, ...named },
        },
        outside: "outside" as const,
        unknown: undefined,
    }[working.with];
    const targeted = pods.filter(({ uid }) => targets.some((target) => target.uid === uid));
    const allowing = allowingPolicy(policies, targeted, working, other);
    if (allowing === undefined) return undefined;
    const { way, policy, pod, isSure } = allowing;
    const direction = way === "ingress" ? "ingress to" : "egress from";
    return reason(
        "policy-allows",
        `the NetworkPolicy ${policy} ${isSure ? "allows" : "may allow"} ${direction} the target ${pod}, and ` +
            "NetworkPolicies add up; the run leaves its targets out of those that select them before it, unless " +
            `somebody restores them; see it: ${kubectlFor(cluster, namespace)} describe networkpolicy ${policy}`,
    );
}
