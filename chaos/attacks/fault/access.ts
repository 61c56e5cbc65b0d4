/**
 * What a fault's proxy needs among other NetworkPolicies. The proxy may be reached by whom the Service's pods accept,
 * and by nobody else; its callers may reach it where they may reach these pods.
 */
import type {
    V1LabelSelector,
    V1NetworkPolicy,
    V1NetworkPolicyPeer,
    V1NetworkPolicyPort,
    V1NetworkPolicySpec,
    V1ObjectMeta,
} from "../../cluster/types";
import { addressesOf, allowsPort, type Pod, portNumberIn } from "../../cluster/kubernetes-rules";
import { labels } from "../../cluster/labels";
import { type BesidePolicy, madeFrom } from "../../policies/beside";
import { inBlock } from "../../policies/blocks";
import { exemption, withoutLine } from "../../policies/exemption";
import { isolates, policyRules, type Rule, rulesOf } from "../../policies/rules";
import { also, both, isWithin, type Labels, selects } from "../../policies/selector";
import { witnessRule } from "../../policies/witness-access";
import { ReasonError } from "../../reasons";
import type { FoundPort, FoundService } from "./find";
import { containerPorts } from "./listeners";
import { proxyLabels } from "./pointing";
import { proxyContainer } from "./proxy/protocol";

/** Who may be kept from a proxy by policies. */
export interface Access {
    service: Pick<FoundService, "service" | "selector" | "ports">;
    proxy: string;
    experiment: string;
    /** Of the Service. */
    pods: readonly Pod[];
    /** The labels of their namespace. */
    namespace: Labels;
}

export interface AccessArgs extends Access {
    /** See `labels.pass`. */
    pass: string;
    /** See `labels.attacked`. */
    attacked: string;
}

/**
 * The policies that let a proxy work, until the attack ends. None selects a pod that no policy isolates already, but
 * for the proxy itself, whose policy is the first.
 *
 * @param policies of others in the namespace
 * @throws ReasonError if they let some callers reach some pods of the Service only: these would reach all
 */
export function proxyPolicies(policies: readonly V1NetworkPolicy[], args: AccessArgs): BesidePolicy[] {
    const { service, proxy, pass, pods, attacked } = args;
    const isolating = policies.filter((policy) => pods.some((pod) => isolatesPod(policy, pod)));
    const proxyPod = { matchLabels: { ...proxyLabels(proxy), [labels.pass]: pass } };
    const toProxy: Rule["peers"] = [{ podSelector: proxyPod }];
    const accepted = service.ports.map((port) => ({
        peers: acceptedAt(port, policies, args),
        ports: [tcp(port.listen)],
    }));
    const ofProxy: BesidePolicy = {
        from: madeFrom(isolating),
        spec: {
            // There without other policies, too: one may come during the run.
            podSelector: proxyPod,
            ...policyRules({
                ingress: accepted.every(({ peers }) => peers === "everybody")
                    ? [{}]
                    : [...accepted.flatMap(({ peers, ports }) => ruleFor(peers, ports)), witnessRule(pass)],
                // It forwards to the Service's pods alone, and asks the API server for these.
                egress: [{}],
            }),
        },
    };
    // By name, too: a pod that comes during the attack may listen elsewhere.
    const listened = service.ports.flatMap(({ target }) => [target, ...pods.map((pod) => portNumberIn(pod, target))]);
    const ports = [...new Set(listened)].filter((port) => port !== undefined).map(tcp);
    const ofPods = isolating.map(({ spec }) => ({
        adds: true as const,
        spec: {
            podSelector: also(both(spec!.podSelector ?? {}, { matchLabels: service.selector }), exemption(attacked)),
            ...policyRules({ ingress: [{ peers: toProxy, ports }] }),
        },
    }));
    const ofCallers = policies.flatMap((policy) =>
        rulesOf(policy.spec!, "egress").flatMap((rule) => {
            const missed = missedBy(rule, args, true);
            if (missed.length === 0) return [];
            const egress = [{ peers: toProxy, ports: missed.map(({ listen }) => tcp(listen)) }];
            const podSelector = also(policy.spec!.podSelector ?? {}, exemption(attacked));
            return [
                { adds: true as const, from: madeFrom([policy]), spec: { podSelector, ...policyRules({ egress }) } },
            ];
        }),
    );
    return [ofProxy, ...ofPods, ...ofCallers];
}

/** The policies that a run has made for a proxy, beside those of others. */
export interface Beside {
    /** Selectors of pods that accept the proxy. */
    accepting: readonly V1LabelSelector[];
    /** By which callers may reach it. */
    calling: readonly V1NetworkPolicySpec[];
    /** Names of those of others that the proxy's own was made from: it accepts whom these accept. */
    from: readonly string[];
    /** The rules of the proxy's own by which everybody reaches it. */
    open: readonly Rule[];
}

/**
 * Whether a policy keeps somebody from a Service whose place a proxy has taken: its pods do not accept the proxy, or
 * callers do not reach that. Pods for which the run has made a policy are not kept: another one can only allow more.
 */
export function keepsFromProxy(policy: V1NetworkPolicy, access: Access, { accepting, calling }: Beside): boolean {
    const { podSelector = {} } = policy.spec!;
    const isAccepting = (pod: Pod) =>
        accepting.some((selector) => selects(selector, labelsOf(pod))) || acceptsProxy(policy, pod, access);
    if (access.pods.some((pod) => isolatesPod(policy, pod) && !isAccepting(pod))) return true;
    const rules = rulesOf(policy.spec!, "egress");
    const added = calling
        .filter((one) => isWithin(podSelector, withoutLine(one.podSelector)))
        .flatMap((one) => rulesOf(one, "egress"));
    return rules
        .flatMap((rule) => missedBy(rule, access, true))
        .filter(({ listen }) => !haveProxyAt(listen, added, access))
        .some(({ listen }) => !rules.some((rule) => allowsProxy(rule, listen, access, true)));
}

/**
 * Whether a policy lets callers reach the Service's pods that the proxy may not accept: its own policy was made without
 * this one, which came later, or did not select these pods.
 */
export function allowsOthers(policy: V1NetworkPolicy, access: Access, { from, open }: Beside): boolean {
    if (from.includes(policy.metadata!.name!)) return false;
    const rules = rulesOf(policy.spec!, "ingress");
    const isolated = access.pods.filter((pod) => isolatesPod(policy, pod));
    const isReached = (pod: Pod, port: FoundPort) => {
        const number = portNumberIn(pod, port.target);
        return number !== undefined && rules.some(({ ports }) => allowsPort(ports, pod, number));
    };
    return access.service.ports
        .filter(({ listen }) => !haveProxyAt(listen, open, access))
        .some((port) => isolated.some((pod) => isReached(pod, port)));
}

/** Whether rules of the run's own policies, whose peers are known, have one of the ports at which a proxy listens. */
const haveProxyAt = (listen: number, rules: readonly Rule[], access: Access): boolean =>
    rules.some(({ ports }) => allowsPort(ports, proxyPodOf(access), listen));

/** Whether a policy lets a proxy reach a pod, at each of the Service's ports at which that listens. */
function acceptsProxy({ spec }: V1NetworkPolicy, pod: Pod, access: Access): boolean {
    const asked = access.service.ports.flatMap(({ target }) => portNumberIn(pod, target) ?? []);
    const proxyPod = proxyPodOf(access);
    const rules = rulesOf(spec!, "ingress").filter((rule) => isPeer(rule, proxyPod, access, true));
    return asked.every((port) => rules.some(({ ports }) => allowsPort(ports, pod, port)));
}

const tcp = (port: number | string) => ({ protocol: "TCP", port });
export const labelsOf = ({ metadata }: { metadata?: V1ObjectMeta }): Labels => metadata?.labels ?? {};

/** Whom pods accept, as peers of a policy's rules. */
type Accepted = V1NetworkPolicyPeer[] | "everybody";

function ruleFor(peers: Accepted, ports: V1NetworkPolicyPort[]): Rule[] {
    if (peers === "everybody") return [{ ports }];
    return peers.length === 0 ? [] : [{ peers, ports }];
}

/** Policies do not apply to pods on the host's network. */
const isolatesPod = ({ spec }: V1NetworkPolicy, pod: Pod) =>
    !pod.spec?.hostNetwork && isolates(spec!, "ingress") && selects(spec!.podSelector, labelsOf(pod));

/**
 * Whom all pods of a Service accept at one of its ports, wherever each listens.
 *
 * @throws ReasonError that names a policy by which some of them accept others
 */
function acceptedAt(port: FoundPort, policies: readonly V1NetworkPolicy[], { service, pods }: AccessArgs): Accepted {
    const listening = pods.filter((pod) => portNumberIn(pod, port.target) !== undefined);
    const areAlike = (some: readonly V1NetworkPolicy[]) =>
        new Set(listening.map((pod) => textOf(acceptedBy(pod, port, some)))).size <= 1;
    if (areAlike(policies)) return listening.length === 0 ? [] : acceptedBy(listening[0]!, port, policies);
    const policy = policies.find((one) => !areAlike([one]))!.metadata!.name;
    throw new ReasonError(
        "attack-refused",
        `the NetworkPolicy ${policy} allows callers to reach only some pods of Service ${service.service} at its ` +
            `port ${port.port}; through a proxy they would reach all of them`,
        "Make the policies allow the same callers for all of its pods",
    );
}

function acceptedBy(pod: Pod, { target }: FoundPort, policies: readonly V1NetworkPolicy[]): Accepted {
    const isolating = policies.filter((policy) => isolatesPod(policy, pod));
    const number = portNumberIn(pod, target)!;
    const rules = isolating
        .flatMap(({ spec }) => rulesOf(spec!, "ingress"))
        .filter(({ ports }) => allowsPort(ports, pod, number));
    if (isolating.length === 0 || rules.some(({ peers = [] }) => peers.length === 0)) return "everybody";
    const peers = rules.flatMap(({ peers = [] }) => peers);
    return [...new Map(peers.map((peer) => [JSON.stringify(peer), peer])).values()];
}

const textOf = (accepted: Accepted) =>
    accepted === "everybody"
        ? accepted
        : accepted
              .map((peer) => JSON.stringify(peer))
              .sort()
              .join();

/** The ports of a Service at which an egress rule lets callers reach its pods, and would keep them from the proxy. */
function missedBy(rule: Rule, access: Access, isOwnNamespace: boolean): FoundPort[] {
    return access.service.ports.filter(({ target, listen }) => {
        if (allowsProxy(rule, listen, access, isOwnNamespace)) return false;
        const number = (pod: Pod) => portNumberIn(pod, target);
        const listening = access.pods.filter(
            (pod) => number(pod) !== undefined && allowsPort(rule.ports, pod, number(pod)!),
        );
        return listening.some((pod) => isPeer(rule, pod, access, isOwnNamespace) || isInBlocks(rule, pod));
    });
}

/**
 * Whether an egress rule lets callers reach a proxy. That has no address yet: blocks in which each pod of the Service
 * has one are taken for such that the proxy will have one in. A pod that is starting has none, and shows nothing.
 */
function allowsProxy(rule: Rule, listen: number, access: Access, isOwnNamespace: boolean): boolean {
    const pod = proxyPodOf(access);
    if (!allowsPort(rule.ports, pod, listen)) return false;
    const addressed = access.pods.filter((one) => addressesOf(one).length > 0);
    const isInAll = addressed.length > 0 && addressed.every((one) => isInBlocks(rule, one));
    return isInAll || isPeer(rule, pod, access, isOwnNamespace);
}

/** A fault's proxy, as policies see it. */
const proxyPodOf = ({ proxy, experiment, service }: Access): Pod => ({
    metadata: { labels: { ...proxyLabels(proxy), [labels.experiment]: experiment } },
    spec: { containers: [{ name: proxyContainer, ports: containerPorts(service.ports) }] },
});

/** Whether a rule allows a pod by its labels. Its address is not looked at. */
const isPeer = ({ peers = [] }: Rule, pod: Pod, { namespace }: Access, isOwnNamespace: boolean): boolean =>
    peers.length === 0 ||
    peers.some(({ podSelector, namespaceSelector, ipBlock }) => {
        const isThere = namespaceSelector ? selects(namespaceSelector, namespace) : isOwnNamespace;
        return !ipBlock && isThere && selects(podSelector, labelsOf(pod));
    });

/** Whether a rule allows a pod by an address of it. */
function isInBlocks({ peers = [] }: Rule, pod: Pod): boolean {
    const addresses = addressesOf(pod);
    return peers.some(({ ipBlock }) => ipBlock && addresses.some(inBlock(ipBlock)));
}

/**
 * Refuses a fault that callers in other namespaces would take for an outage: their policies let them reach the
 * Service's pods by labels or ports that the proxy does not have, and no run adds policies to another namespace.
 *
 * @param all policies of the cluster
 * @throws ReasonError that names the policy
 */
export function refuseForeignCallers(all: readonly V1NetworkPolicy[], args: Access): void {
    const own = args.namespace["kubernetes.io/metadata.name"];
    const keepsOut = ({ metadata, spec }: V1NetworkPolicy) =>
        metadata!.namespace !== own && rulesOf(spec!, "egress").some((rule) => missedBy(rule, args, false).length > 0);
    const policy = all.find(keepsOut)?.metadata;
    if (policy === undefined) return;
    throw new ReasonError(
        "attack-refused",
        `the NetworkPolicy ${policy.name} of namespace ${policy.namespace} allows its pods to reach those of Service ` +
            `${args.service.service} by labels or ports that a proxy does not have: they could not reach the proxy`,
        "Make the policy name only the namespace, without podSelector and ports",
    );
}
