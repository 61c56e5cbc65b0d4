import { type Pod } from "../../cluster/kubernetes-rules";
import { annotations, experimentOf, labels, noteIn, selectorOf } from "../../cluster/labels";
import { resources } from "../../cluster/resources";
import { ownPolicy } from "../../policies/beside";
import { othersIn, policiesOfRun } from "../../policies/listed";
import type { JobContext } from "../job-part";
import { type Access, keepsFromProxy } from "./access";

/**
 * Why callers may not reach a fault's proxy, or that not the Service's pods: a NetworkPolicy that came, or selects
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
    const met = new Set<string>();
    let noted: Partial<Pick<Access, "service" | "namespace">> = {};
    for await (const policy of policiesOfRun(api, namespace, run)) {
        Object.keys(ownPolicy(policy)?.from ?? {}).forEach((name) => met.add(name));
        if (policy.spec?.podSelector?.matchLabels?.[labels.proxy] === object.name)
            noted = noteIn(policy, annotations.access);
    }
    if (noted.service === undefined || noted.namespace === undefined) return undefined;
    const pods: Pod[] = [];
    for await (const { metadata, spec, status } of api.list(
        resources.pod,
        namespace,
        selectorOf(noted.service.selector),
    ) as AsyncIterable<Pod>)
        pods.push({ metadata: { labels: metadata?.labels }, spec, status });
    const access = {
        service: noted.service,
        namespace: noted.namespace,
        proxy: object.name,
        experiment: experimentOf(label),
        pods,
    };
    for await (const policy of othersIn(api, namespace))
        if (!met.has(policy.metadata!.name!) && keepsFromProxy(policy, access))
            return (
                `the NetworkPolicy ${policy.metadata!.name} came during the run, and keeps callers of Service ` +
                `${access.service.service} from the fault's proxy, or that from the Service's pods`
            );
    return undefined;
}
