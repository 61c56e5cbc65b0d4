import type { V1NetworkPolicy } from "../values/kubernetes-types";
import { Mutex } from "../values/async";
import { isOthersPolicy, isPolicyOfRun, labels } from "../cluster/labels";
import { type ObjectApi, resources } from "../cluster/resources";
import { Fit, type OwnPolicy, ownPolicy } from "./own-policies";
import { knownPolicy } from "./known";

type Policies = AsyncGenerator<V1NetworkPolicy>;

/** Each may have a megabyte of rules, and the Job's memory is small: two lists of others' are not read at a time. */
const reading = new Mutex();

/**
 * The NetworkPolicies of a namespace that are others' for a run, one after another. Only one such list is read at a
 * time: a second caller waits for the first.
 */
export async function* othersIn(api: ObjectApi, namespace: string, run: string): Policies {
    const done = await reading.acquire();
    try {
        const all = api.list(resources.networkPolicy, { namespace, withRules: true });
        for await (const policy of all) if (isOthersPolicy(policy, run)) yield policy;
    } finally {
        done();
    }
}

/** The NetworkPolicies that a run has made, and its attacks, without the one that lets the Job through. */
export async function* policiesOfRun(api: ObjectApi, namespace: string, run: string): Policies {
    const selection = { namespace, labelSelector: labels.experiment, withRules: true };
    for await (const policy of api.list(resources.networkPolicy, selection))
        if (isPolicyOfRun(policy, run)) yield policy;
}

/**
 * Why policies of a run no longer fit those of others (see `Fit`), or that somebody has deleted or edited one of them.
 *
 * @param met names of those that were there before this look; it adds those of now
 * @throws Error if that is not known
 */
export async function whyPoliciesUnfit(
    api: ObjectApi,
    namespace: string,
    run: string,
    met = new Set<string>(),
): Promise<string | undefined> {
    // A policy that is met while the list is read may not be in it yet.
    const metBefore = [...met];
    const own: OwnPolicy[] = [];
    const there = new Set<string>();
    for await (const policy of policiesOfRun(api, namespace, run)) {
        const { name, generation = 1, labels: ofPolicy } = policy.metadata!;
        // A run changes none of its own.
        if (generation > 1) return `the run's own NetworkPolicy ${name} was edited`;
        // The run itself takes this one away before its end.
        if (ofPolicy?.[labels.witness] === undefined) there.add(name!);
        const known = ownPolicy(policy);
        if (known) own.push(known);
    }
    const gone = metBefore.find((name) => !there.has(name));
    if (gone !== undefined) return `the run's own NetworkPolicy ${gone} was deleted`;
    there.forEach((name) => met.add(name));
    if (own.length === 0) return undefined;
    const fit = new Fit(own);
    for await (const policy of othersIn(api, namespace, run)) fit.see(knownPolicy(policy));
    return fit.whyNot();
}

/** The same for the policy that lets the deadline Job through: soon, the Job may not reach the API server. */
export async function whyJobPolicyUnfit(
    api: ObjectApi,
    namespace: string,
    name: string,
    met: Set<string>,
): Promise<string | undefined> {
    const wasMet = met.has(name);
    const found = await api.get({ resource: resources.networkPolicy, namespace, name });
    if (found === undefined) return wasMet ? `the run's own NetworkPolicy ${name} was deleted` : undefined;
    met.add(name);
    return (found.metadata?.generation ?? 1) > 1 ? `the run's own NetworkPolicy ${name} was edited` : undefined;
}
