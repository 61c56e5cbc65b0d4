import type { V1NetworkPolicy } from "@kubernetes/client-node";
import { labels } from "../cluster/labels";
import { type ObjectApi, resources } from "../cluster/resources";
import { type OwnPolicy, ownPolicy, whyUnfit } from "./beside";
import { type KnownPolicy, knownPolicy } from "./known";

/** The NetworkPolicies of a namespace without those of experiments, one after another: they may be large. */
export const othersIn = (api: ObjectApi, namespace: string) =>
    api.list(resources.networkPolicy, namespace, `!${labels.experiment},!${labels.witness}`, true) as Policies;

/** The NetworkPolicies that a run has made itself, or its attacks are. */
export async function* policiesOfRun(api: ObjectApi, namespace: string, run: string): Policies {
    for await (const policy of api.list(resources.networkPolicy, namespace, labels.experiment))
        if (policy.metadata!.name!.startsWith(`${run}-`)) yield policy;
}

type Policies = AsyncGenerator<V1NetworkPolicy>;

/**
 * Why policies of a run no longer fit those of others (see `whyUnfit`), or that one of them was deleted.
 *
 * @param met names of those that were there at an earlier look; it adds those of now
 * @throws Error if that is not known
 */
export async function whyRunsUnfit(
    api: ObjectApi,
    namespace: string,
    run: string,
    met = new Set<string>(),
): Promise<string | undefined> {
    const own: OwnPolicy[] = [];
    const there = new Set<string>();
    for await (const policy of policiesOfRun(api, namespace, run)) {
        const known = ownPolicy(policy);
        if (!known) continue;
        own.push(known);
        // The run itself takes this one away before its end.
        if (policy.metadata!.labels?.[labels.witness] === undefined) there.add(known.name);
    }
    const gone = [...met].find((name) => !there.has(name));
    if (gone !== undefined) return `the run's own NetworkPolicy ${gone} was deleted`;
    there.forEach((name) => met.add(name));
    if (own.length === 0) return undefined;
    const others: KnownPolicy[] = [];
    for await (const policy of othersIn(api, namespace)) others.push(knownPolicy(policy));
    return whyUnfit(own, others);
}

/** The same for the policy that lets the deadline Job through: without it, the Job may not reach the API server. */
export async function whyJobUnfit(
    api: ObjectApi,
    namespace: string,
    name: string,
    met: Set<string>,
): Promise<string | undefined> {
    if ((await api.get({ resource: resources.networkPolicy, namespace, name })) !== undefined) met.add(name);
    else if (met.has(name)) return `the run's own NetworkPolicy ${name} was deleted`;
    return undefined;
}
