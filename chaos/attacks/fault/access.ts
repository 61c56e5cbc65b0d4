/**
 * What a fault's proxy needs among other NetworkPolicies. The proxy may be reached by whom the Service's pods accept,
 * and by nobody else; its callers may reach it where they may reach these pods.
 */
import type { V1NetworkPolicy, V1NetworkPolicyPeer, V1ObjectMeta } from "@kubernetes/client-node";
import { type Cluster, unlessForbidden } from "../../cluster/client";
import { labels } from "../../cluster/labels";
import { exemption } from "../../policies/exemption";
import { isolates, policyRules, type PolicySpec, type Rule, rulesOf } from "../../policies/rules";
import { also, both, type Labels, selects } from "../../policies/selector";
import { witnessRule } from "../../policies/witness-access";
import { ReasonError } from "../../reasons";
import type { FoundService } from "./find";
import type { Policed, RunAttack } from "../kind";
import { proxyLabels } from "./pointing";

/** The policies that let an attack's proxy work. @throws Error as `proxyPolicies` and `refuseForeignCallers` do */
export async function admitProxy(
    { experiment, namespace, object: proxy, chosen }: RunAttack<unknown, FoundService>,
    { core, networking }: Cluster,
    { policies, pass }: Policed,
): Promise<PolicySpec[]> {
    const service = chosen.found!;
    const [{ items }, own, everywhere] = await Promise.all([
        core.listNamespacedPod({ namespace }),
        core.readNamespace({ name: namespace }),
        // A person may have rights in one namespace and nowhere else.
        unlessForbidden(networking.listNetworkPolicyForAllNamespaces()),
    ]);
    const labelsOf = ({ metadata }: { metadata?: V1ObjectMeta }) => metadata!.labels ?? {};
    const pods = items.map(labelsOf).filter((of) => selects({ matchLabels: service.selector }, of));
    const access = { service, proxy, experiment, pass, pods, namespace: labelsOf(own) };
    refuseForeignCallers(everywhere?.items ?? [], access);
    return proxyPolicies(policies, access);
}

export interface AccessArgs {
    service: FoundService;
    proxy: string;
    experiment: string;
    /** See `labels.pass`. */
    pass: string;
    pods: readonly Labels[];
    /** The labels of their namespace. */
    namespace: Labels;
}

/**
 * The policies that let a proxy work, until the attack ends. None selects a pod that no policy isolates already, but
 * for the proxy itself.
 *
 * @param policies of the namespace, without those of experiments
 * @throws ReasonError if not the same policies apply to all pods of the Service: one that may reach some would reach
 *   all
 */
export function proxyPolicies(policies: readonly V1NetworkPolicy[], args: AccessArgs): PolicySpec[] {
    const { service, proxy, pass, pods } = args;
    const proxyPod = { matchLabels: { ...proxyLabels(proxy), [labels.pass]: pass } };
    requireSamePolicies(policies, args);
    const isolating = policies.filter(
        ({ spec }) => isolates(spec!, "ingress") && pods.some((pod) => selects(spec!.podSelector, pod)),
    );
    const accepted = isolating.flatMap(({ spec }) => rulesOf(spec!, "ingress"));
    const toProxy: Rule["peers"] = [{ podSelector: proxyPod }];
    const ports = [...new Set(service.ports.map(({ listen }) => listen))].map((port) => ({ protocol: "TCP", port }));
    const ofProxy: PolicySpec = {
        // There without other policies, too: one may come during the run.
        podSelector: proxyPod,
        ...policyRules({
            ingress: isolating.length > 0 ? [...accepted, witnessRule(pass)] : [{}],
            // It forwards to the Service's pods alone, and asks the API server for these.
            egress: [{}],
        }),
    };
    const ofPods = isolating.map(({ spec }) => ({
        podSelector: also(both(spec!.podSelector ?? {}, { matchLabels: service.selector }), exemption),
        ...policyRules({ ingress: [{ peers: toProxy, ports }] }),
    }));
    const ofCallers = policies.flatMap(({ spec }) =>
        rulesOf(spec!, "egress")
            .filter(({ peers = [] }) => peers.some((peer) => isForPods(peer, args)))
            .map((rule) => ({
                podSelector: also(spec!.podSelector ?? {}, exemption),
                ...policyRules({ egress: [{ peers: toProxy, ports: rule.ports }] }),
            })),
    );
    return [ofProxy, ...ofPods, ...ofCallers];
}

/** Whether a rule's peer is for the Service's pods by labels that the proxy does not have. */
function isForPods(
    { podSelector, namespaceSelector, ipBlock }: V1NetworkPolicyPeer,
    { pods, namespace, proxy, experiment }: AccessArgs,
): boolean {
    if (ipBlock !== undefined || podSelector === undefined) return false;
    if (namespaceSelector !== undefined && !selects(namespaceSelector, namespace)) return false;
    if (selects(podSelector, { ...proxyLabels(proxy), [labels.experiment]: experiment })) return false;
    return pods.some((pod) => selects(podSelector, pod));
}

/**
 * Refuses a fault that callers in other namespaces would take for an outage: their policies let them reach the
 * Service's pods by labels, which the proxy does not have, and no run adds policies to another namespace.
 *
 * @param all policies of the cluster
 * @throws ReasonError that names the policy
 */
export function refuseForeignCallers(all: readonly V1NetworkPolicy[], args: AccessArgs): void {
    const own = args.namespace["kubernetes.io/metadata.name"];
    const letsThrough = ({ metadata, spec }: V1NetworkPolicy) =>
        metadata!.namespace !== own &&
        rulesOf(spec!, "egress").some(({ peers = [] }) =>
            peers.some((peer) => peer.namespaceSelector !== undefined && isForPods(peer, args)),
        );
    const policy = all.find(letsThrough)?.metadata;
    if (policy === undefined) return;
    throw new ReasonError(
        "attack-refused",
        `the NetworkPolicy ${policy.name} of namespace ${policy.namespace} lets its pods reach those of Service ` +
            `${args.service.service} by their labels: a proxy in their place would be out of reach for them`,
        "Let the policy name the namespace alone, without a podSelector",
    );
}

function requireSamePolicies(policies: readonly V1NetworkPolicy[], { service: { service }, pods }: AccessArgs): void {
    for (const { metadata, spec } of policies) {
        const applies = new Set(pods.map((pod) => selects(spec!.podSelector, pod)));
        if (applies.size <= 1) continue;
        throw new ReasonError(
            "attack-refused",
            `the NetworkPolicy ${metadata!.name} applies to some pods of Service ${service} and not to all, ` +
                "and a proxy in their place would let callers reach more of them than now",
            "Let the policy select all of them or none",
        );
    }
}
