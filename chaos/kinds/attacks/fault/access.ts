/**
 * The policies that a fault's proxy needs beside other NetworkPolicies. It accepts only the callers that the Service's
 * pods accept, and callers may reach it where they may reach these pods.
 */
import type {
    V1LabelSelector,
    V1NetworkPolicy,
    V1NetworkPolicyPeer,
    V1NetworkPolicyPort,
    V1NetworkPolicySpec,
    V1ObjectMeta,
} from "../../../values/kubernetes-types";
import { addressesOf, type Pod, portNumberIn } from "../../../values/kubernetes-rules";
import { labels } from "../../../cluster/labels";
import { allows, allowsPeer, allowsPort, isolatesPod, type Peer } from "../../../policies/allows";
import { madeFrom, type NewPolicy } from "../../../policies/own-policies";
import { exemption, withoutLine } from "../../../policies/exemption";
import { policyRules, type Rule, rulesOf } from "../../../policies/rules";
import { also, both, isWithin, type Labels, selects } from "../../../policies/selector";
import { witnessRule } from "../../../policies/witness-access";
import { ReasonError } from "../../../values/reasons";
import type { FoundPort, FoundService } from "./find";
import { containerPorts } from "./listeners";
import { proxyLabels } from "./pointing";
import { proxyContainer } from "./proxy/protocol";

export interface Access {
    service: Pick<FoundService, "service" | "selector" | "ports">;
    proxy: string;
    experiment: string;
    /** The Service's pods. */
    pods: readonly Pod[];
    /** The labels of their namespace. */
    namespace: Labels;
    /** Whether the callers are in another namespace. @default false */
    isElsewhere?: boolean;
}

export interface AccessArgs extends Access {
    pass: string;
    attacked: string;
}

/**
 * The policies that let a proxy work until the attack ends. None selects a pod that no policy isolates already, except
 * the first, which is that of the proxy itself.
 *
 * @param policies of others in the namespace
 * @throws ReasonError if they let some callers reach some pods of the Service only: through the proxy these would reach
 *   all
 */
export function proxyPolicies(policies: readonly V1NetworkPolicy[], args: AccessArgs): NewPolicy[] {
    const { service, proxy, pass, pods, attacked } = args;
    const isolating = policies.filter((policy) => pods.some((pod) => isIsolated(policy, pod)));
    const proxyPod = { matchLabels: { ...proxyLabels(proxy), [labels.pass]: pass } };
    const toProxy: Rule["peers"] = [{ podSelector: proxyPod }];
    const accepted = service.ports.map((port) => ({
        peers: acceptedAt(port, policies, args),
        ports: [tcp(port.listen)],
    }));
    const ofProxy: NewPolicy = {
        from: madeFrom(isolating),
        spec: {
            // It is made even if there are no other policies, since one may come during the run.
            podSelector: proxyPod,
            ...policyRules({
                ingress: accepted.every(({ peers }) => peers === "everybody")
                    ? [{}]
                    : [...accepted.flatMap(({ peers, ports }) => ruleFor(peers, ports)), witnessRule(pass)],
                // The proxy forwards to the Service's pods alone, and asks the API server for these.
                egress: [{}],
            }),
        },
    };
    // Ports are also given by name, because a pod that comes during the attack may listen elsewhere.
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
            const missed = missedBy(rule, args);
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
    /** They select pods that accept the proxy. */
    accepting: readonly V1LabelSelector[];
    calling: readonly V1NetworkPolicySpec[];
    /** Names of the others' policies that the proxy's own was made from: it accepts the callers that these accept. */
    from: readonly string[];
    /** The rules of the proxy's own policy that accept all callers. */
    open: readonly Rule[];
}

/**
 * Whether a policy keeps callers from a Service whose place a proxy has taken: the Service's pods do not accept the
 * proxy, or callers do not reach it. Pods for which the run has made a policy are never kept, because another one can
 * only allow more.
 */
export function keepsFromProxy(policy: V1NetworkPolicy, access: Access, { accepting, calling }: Beside): boolean {
    const { podSelector = {} } = policy.spec!;
    const isAccepting = (pod: Pod) =>
        accepting.some((selector) => selects(selector, labelsOf(pod))) || acceptsProxy(policy, pod, access);
    if (access.pods.some((pod) => isIsolated(policy, pod) && !isAccepting(pod))) return true;
    const rules = rulesOf(policy.spec!, "egress");
    const added = calling
        .filter((one) => isWithin(podSelector, withoutLine(one.podSelector)))
        .flatMap((one) => rulesOf(one, "egress"));
    return rules
        .flatMap((rule) => missedBy(rule, access))
        .filter(({ listen }) => !haveProxyAt(listen, added, access))
        .some(({ listen }) => !rules.some((rule) => allowsProxy(rule, listen, access)));
}

/**
 * Whether a policy lets callers reach the Service's pods that the proxy may not accept: the proxy's policy was made
 * without this one, which came later, or did not select these pods.
 */
export function allowsOthers(policy: V1NetworkPolicy, access: Access, { from, open }: Beside): boolean {
    if (from.includes(policy.metadata!.name!)) return false;
    const rules = rulesOf(policy.spec!, "ingress");
    const isolated = access.pods.filter((pod) => isIsolated(policy, pod));
    const isReached = (pod: Pod, port: FoundPort) => {
        const number = portNumberIn(pod, port.target);
        return number !== undefined && rules.some((rule) => allowsPort(rule, { port: number, portOf: pod }));
    };
    return access.service.ports
        .filter(({ listen }) => !haveProxyAt(listen, open, access))
        .some((port) => isolated.some((pod) => isReached(pod, port)));
}

/**
 * Whether some rules have a port at which the proxy listens. They are of the run's own policies, whose peers are known.
 */
const haveProxyAt = (listen: number, rules: readonly Rule[], access: Access): boolean =>
    rules.some((rule) => allowsPort(rule, { port: listen, portOf: proxyPodOf(access) }));

function acceptsProxy({ spec }: V1NetworkPolicy, pod: Pod, access: Access): boolean {
    const asked = access.service.ports.flatMap(({ target }) => portNumberIn(pod, target) ?? []);
    const rules = rulesOf(spec!, "ingress");
    const peer = peerOf(proxyPodOf(access), access);
    return asked.every((port) => rules.some((rule) => allows(rule, { peer, port, portOf: pod })));
}

const tcp = (port: number | string) => ({ protocol: "TCP", port });
export const labelsOf = ({ metadata }: { metadata?: V1ObjectMeta }): Labels => metadata?.labels ?? {};

type Accepted = V1NetworkPolicyPeer[] | "everybody";

function ruleFor(peers: Accepted, ports: V1NetworkPolicyPort[]): Rule[] {
    if (peers === "everybody") return [{ ports }];
    return peers.length === 0 ? [] : [{ peers, ports }];
}

const isIsolated = (policy: V1NetworkPolicy, pod: Pod) => isolatesPod(policy, pod, "ingress");

/**
 * The callers that all pods of a Service accept at one of its ports. Each may listen at another number.
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
    const isolating = policies.filter((policy) => isIsolated(policy, pod));
    const number = portNumberIn(pod, target)!;
    const rules = isolating
        .flatMap(({ spec }) => rulesOf(spec!, "ingress"))
        .filter((rule) => allowsPort(rule, { port: number, portOf: pod }));
    if (isolating.length === 0 || rules.some(({ peers = [] }) => peers.length === 0)) return "everybody";
    const peers = rules.flatMap(({ peers = [] }) => peers);
    return [...new Map(peers.map((peer) => [JSON.stringify(peer), peer])).values()];
}

const textOf = (accepted: Accepted) =>
    [accepted]
        .flat()
        .map((one) => JSON.stringify(one))
        .sort()
        .join();

/** The ports of a Service at which an egress rule lets callers reach its pods, but would keep them from the proxy. */
const missedBy = (rule: Rule, access: Access): FoundPort[] =>
    access.service.ports.filter(
        ({ target, listen }) =>
            !allowsProxy(rule, listen, access) &&
            access.pods.some((pod) => {
                const port = portNumberIn(pod, target);
                const peer = { ...peerOf(pod, access), addresses: addressesOf(pod) };
                return port !== undefined && allows(rule, { peer, port, portOf: pod });
            }),
    );

/**
 * Whether an egress rule lets callers reach a proxy, which has no address yet: a block that contains an address of each
 * pod of the Service is assumed to contain the proxy's, too. A pod that is starting has no address, and does not count.
 */
function allowsProxy(rule: Rule, listen: number, access: Access): boolean {
    const pod = proxyPodOf(access);
    if (!allowsPort(rule, { port: listen, portOf: pod })) return false;
    const addresses = access.pods.map(addressesOf).filter((some) => some.length > 0);
    const isInAll = addresses.length > 0 && addresses.every((some) => allowsPeer(rule, { addresses: some }));
    return isInAll || allowsPeer(rule, peerOf(pod, access));
}

const peerOf = (pod: Pod, { namespace, isElsewhere }: Access): Peer => ({
    labels: labelsOf(pod),
    namespace,
    isElsewhere,
});

const proxyPodOf = ({ proxy, experiment, service }: Access): Pod => ({
    metadata: { labels: { ...proxyLabels(proxy), [labels.experiment]: experiment } },
    spec: { containers: [{ name: proxyContainer, ports: containerPorts(service.ports) }] },
});

/**
 * Refuses a fault that callers in other namespaces would take for an outage: their policies let them reach the
 * Service's pods by labels or ports that the proxy does not have, and no run adds policies to another namespace.
 *
 * @throws ReasonError that names the policy
 */
export function refuseForeignCallers(all: readonly V1NetworkPolicy[], args: Access): void {
    const own = args.namespace["kubernetes.io/metadata.name"];
    const access = { ...args, isElsewhere: true };
    const keepsOut = ({ metadata, spec }: V1NetworkPolicy) =>
        metadata!.namespace !== own && rulesOf(spec!, "egress").some((rule) => missedBy(rule, access).length > 0);
    const policy = all.find(keepsOut)?.metadata;
    if (policy === undefined) return;
    throw new ReasonError(
        "attack-refused",
        `the NetworkPolicy ${policy.name} of namespace ${policy.namespace} allows its pods to reach those of Service ` +
            `${args.service.service} by labels or ports that a proxy does not have: they could not reach the proxy`,
        "Make the policy name only the namespace, without podSelector and ports",
    );
}
