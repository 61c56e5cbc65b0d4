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

/** Why policies of a run do not fit those of others any more, as `whyUnfit`. @throws Error if that is not known */
export async function whyRunsUnfit(api: ObjectApi, namespace: string, run: string): Promise<string | undefined> {
    const own: OwnPolicy[] = [];
    for await (const policy of policiesOfRun(api, namespace, run)) {
        const known = ownPolicy(policy);
        if (known) own.push(known);
    }
    if (own.length === 0) return undefined;
    const others: KnownPolicy[] = [];
    for await (const policy of othersIn(api, namespace)) others.push(knownPolicy(policy));
    return whyUnfit(own, others);
}
