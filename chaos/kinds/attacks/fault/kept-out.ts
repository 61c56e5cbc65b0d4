import type { V1Container, V1LabelSelector, V1NetworkPolicySpec, V1Service } from "../../../values/kubernetes-types";
import { isDeepStrictEqual } from "node:util";
import { hasEnded, type Pod } from "../../../values/kubernetes-rules";
import { annotations, experimentOf, labels, noteIn, selectorOf } from "../../../cluster/labels";
import { resources } from "../../../cluster/resources";
import { ownPolicy } from "../../../policies/own-policies";
import { othersIn, policiesOfRun } from "../../../policies/listed";
import { rulesOf } from "../../../policies/rules";
import type { JobContext } from "../job-part";
import { type Access, allowsOthers, type Beside, keepsFromProxy } from "./access";
import type { Fault } from "./proxy/protocol";
import { whyNoLongerServed } from "./unserved";

/** The Job has too little memory to keep more of the Service's pods, in characters of JSON. */
const mostKept = 2_000_000;

/**
 * Why callers cannot reach a fault's proxy, or the proxy the Service's pods: somebody has changed the Service; a
 * NetworkPolicy came, or selects other pods, since the run made its own; or these are gone. Undefined if they can.
 *
 * @param current the Service, which points to the proxy
 * @throws Error if the API server does not say
 */
export async function whyKeptOut(
    fault: Pick<Fault, "service" | "abort" | "match">,
    current: V1Service,
    { api, namespace, run, label, object }: Pick<JobContext, "api" | "namespace" | "run" | "label" | "object">,
): Promise<string | undefined> {
    const accepting: V1LabelSelector[] = [];
    const calling: V1NetworkPolicySpec[] = [];
    let ofProxy: Pick<Beside, "from" | "open"> = { from: [], open: [] };
    let noted: Partial<Pick<Access, "service" | "namespace">> = {};
    for await (const policy of policiesOfRun(api, namespace, run)) {
        const { adds, from = {}, podSelector, ways = [] } = ownPolicy(policy) ?? {};
        if (adds && policy.metadata!.labels?.[labels.witness] === undefined) {
            if (ways.includes("ingress")) accepting.push(podSelector!);
            else calling.push(policy.spec!);
        }
        if (policy.spec?.podSelector?.matchLabels?.[labels.proxy] !== object.name) continue;
        noted = noteIn(policy, annotations.access);
        const open = rulesOf(policy.spec, "ingress").filter(({ peers = [] }) => peers.length === 0);
        ofProxy = { from: Object.keys(from), open };
    }
    // That policy is made before the Service points to the proxy, whether or not there are others.
    if (noted.service === undefined || noted.namespace === undefined)
        return `the run's own NetworkPolicy for the proxy of Service ${fault.service} is gone`;
    const { service } = noted;
    const changed = whyNoLongerServed(current, service.ports, fault);
    if (changed !== undefined) return changed;
    const followed = (await api.get({ ...object, resource: resources.service })) ?? {};
    if (!isDeepStrictEqual(followed.spec?.selector, service.selector))
        return (
            `the Service ${object.name}, by which the fault's proxy knows the pods of Service ` +
            `${service.service}, was deleted or edited`
        );
    const pods: Pod[] = [];
    let kept = 0;
    for await (const pod of api.list(resources.pod, { namespace, labelSelector: selectorOf(service.selector) })) {
        if (hasEnded(pod)) continue;
        pods.push(ofPolicies(pod));
        kept += JSON.stringify(pods.at(-1)).length;
        if (kept > mostKept)
            return (
                `the pods of Service ${service.service} have more labels and ports than this Job can hold, so it ` +
                "cannot see whether a NetworkPolicy keeps callers from the fault's proxy"
            );
    }
    const access = {
        service,
        namespace: noted.namespace,
        proxy: object.name,
        experiment: experimentOf(label),
        pods,
    };
    const beside = { accepting, calling, ...ofProxy };
    for await (const policy of othersIn(api, namespace, run)) {
        const { name } = policy.metadata!;
        if (keepsFromProxy(policy, access, beside))
            return (
                `the NetworkPolicy ${name} keeps callers of Service ${service.service} from the ` +
                "fault's proxy, or the proxy from the Service's pods, and no policy of the run allows this"
            );
        if (allowsOthers(policy, access, beside))
            return (
                `the NetworkPolicy ${name} allows callers to reach the pods of Service ${service.service}, and the ` +
                "run had made the policy of the fault's proxy without it: the proxy may not accept these callers"
            );
    }
    return undefined;
}

/** Keeps only what policies look at. */
const ofPolicies = ({ metadata, spec, status }: Pod): Pod => ({
    metadata: { labels: metadata?.labels },
    spec: {
        hostNetwork: spec?.hostNetwork,
        containers: withPorts(spec?.containers)!,
        initContainers: withPorts(spec?.initContainers),
    },
    status: { podIP: status?.podIP, podIPs: status?.podIPs },
});

const withPorts = (containers?: readonly V1Container[]) =>
    containers?.map(({ name, restartPolicy, ports }) => ({ name, restartPolicy, ports }));
