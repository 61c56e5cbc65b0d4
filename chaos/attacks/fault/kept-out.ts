import type { V1LabelSelector } from "@kubernetes/client-node";
import { hasEnded, type Pod } from "../../cluster/kubernetes-rules";
import { annotations, experimentOf, labels, noteIn, selectorOf } from "../../cluster/labels";
import { resources } from "../../cluster/resources";
import { ownPolicy } from "../../policies/beside";
import { othersIn, policiesOfRun } from "../../policies/listed";
import type { JobContext } from "../job-part";
import { type Access, type Beside, keepsFromProxy } from "./access";

/**
 * Why callers cannot reach a fault's proxy, or the proxy the Service's pods: a NetworkPolicy that came, or selects
 * other pods, since the run made its own. Undefined if they may, as far as that is known.
 *
 * @throws Error if the API server does not say
 */
export async function whyKeptOut({
    api,
    namespace,
    run,
    label,
    object,
}: Pick<JobContext, "api" | "namespace" | "run" | "label" | "object">): Promise<string | undefined> {
    const beside: Record<keyof Beside, V1LabelSelector[]> = { accepting: [], calling: [] };
    let noted: Partial<Pick<Access, "service" | "namespace">> = {};
    for await (const policy of policiesOfRun(api, namespace, run)) {
        const { adds, podSelector, ways = [] } = ownPolicy(policy) ?? {};
        if (adds && policy.metadata!.labels?.[labels.witness] === undefined)
            beside[ways.includes("ingress") ? "accepting" : "calling"].push(podSelector!);
        if (policy.spec?.podSelector?.matchLabels?.[labels.proxy] === object.name)
            noted = noteIn(policy, annotations.access);
    }
    if (noted.service === undefined || noted.namespace === undefined) return undefined;
    const pods: Pod[] = [];
    const selector = selectorOf(noted.service.selector);
    for await (const pod of api.list(resources.pod, namespace, selector) as AsyncIterable<Pod>)
        if (!hasEnded(pod)) pods.push(ofPolicies(pod));
    const { service } = noted;
    const access = {
        service,
        namespace: noted.namespace,
        proxy: object.name,
        experiment: experimentOf(label),
        pods,
    };
    for await (const policy of othersIn(api, namespace))
        if (keepsFromProxy(policy, access, beside))
            return (
                `the NetworkPolicy ${policy.metadata!.name} keeps callers of Service ${service.service} from the ` +
                "fault's proxy, or the proxy from the Service's pods, and no policy of the run allows this"
            );
    return undefined;
}

/** What policies ask of a pod. */
const ofPolicies = ({ metadata, spec, status }: Pod): Pod => ({
    metadata: { labels: metadata?.labels },
    spec,
    status: { podIP: status?.podIP, podIPs: status?.podIPs },
});
