import type { V1Namespace, V1Service } from "../values/kubernetes-types";
import { kubectlFor } from "../values/kubectl";
import { pause } from "../values/async";
import { Endpoints } from "../kinds/checks/endpoints";
import { keptOf, namesOf, type Observed, problemsOf, untilAllHold } from "../kinds/checks/observe";
import { serviceAskedBy } from "../kinds/checks/registry";
import { chooseRoute } from "../kinds/checks/route";
import type { Cluster } from "../cluster/client";
import { undoneOf, type Plan } from "../definition/plan";
import { describeMilliseconds } from "../values/duration";
import { otherResources, resources } from "../cluster/resources";

const pauseMs = 100;
/** Between two looks whether the application is there, while the checks fail. */
const lookMs = 2_000;

export const recoveryTimeoutMs = 60_000;

/** Some checks of the application did not hold in time. */
export class NotRecoveredError extends Error {
    override readonly name = "NotRecoveredError";

    /** @param unseen whether those checks do not see the application: nothing is known of it then */
    constructor(
        message: string,
        readonly unseen: boolean,
    ) {
        super(message);
    }
}

export interface Recovered {
    /** How long it took until every check held, in milliseconds. */
    recoveredAfterMs: number;
    /** What was answered meanwhile; see `keptOf`. */
    checks: Observed[];
}

/**
 * Waits until all checks hold.
 *
 * @returns null if the application is gone
 * @throws NotRecoveredError after `timeoutMs`
 */
export async function recover(cluster: Cluster, plan: Plan, timeoutMs: number): Promise<Recovered | null> {
    const begun = performance.now();
    if (!(await isThere(cluster, plan))) return null;
    const route = plan.service && (await chooseRoute(cluster, plan.service));
    const endpoints = new Endpoints(cluster, plan.defaultNamespace, { route });
    const watch = new AbortController();
    const going = whetherItGoes(cluster, plan, watch);
    const context = { ...plan, cluster, endpoints };
    const { checks, failing } = await untilAllHold(plan, context, timeoutMs, pauseMs, watch.signal);
    watch.abort();
    if (failing.length === 0)
        return { recoveredAfterMs: Math.round(performance.now() - begun), checks: keptOf(checks) };
    // `pulumi destroy` deletes it at the same time, if the experiment does not depend on it.
    if (await going) return null;
    const isUnseen = failing.every(({ answers }) => answers.at(-1)?.unseen);
    const [names, problems, undone] = [namesOf(plan), problemsOf(failing), undoneOf(plan)];
    const look = `\`${kubectlFor(cluster, plan.defaultNamespace)} get pods\``;
    throw new NotRecoveredError(
        isUnseen
            ? `Nothing is left of ${undone}. It is not known whether ${names} recovered: ${problems}. ` +
                  `See the application: ${look}.`
            : `${names} did not recover within ${describeMilliseconds(timeoutMs)} after ${undone} was undone: ` +
                  `${problems}. Nothing of it is left; look at ${look}, then run pulumi again.`,
        isUnseen,
    );
}

/** Looks until the watch ends whether the application is deleted meanwhile. Then it ends the watch. Never rejects. */
async function whetherItGoes(cluster: Cluster, plan: Plan, watch: AbortController): Promise<boolean> {
    for (;;) {
        await pause(lookMs, watch.signal);
        if (watch.signal.aborted) return false;
        if (await isThere(cluster, plan).catch(() => true)) continue;
        watch.abort();
        return true;
    }
}

/** Whether the application is there: the plan's Service, else a Service that a check asks, else the namespace. */
async function isThere(cluster: Cluster, { service, checks, defaultNamespace }: Plan): Promise<boolean> {
    const named = checks.flatMap(({ check }) => serviceAskedBy(check, { defaultNamespace }) ?? []);
    const services = service ? [service] : named;
    const found: Promise<V1Service | V1Namespace | undefined>[] = services.map(({ name, namespace }) =>
        cluster.get({ resource: resources.service, name, namespace }),
    );
    if (services.length === 0) found.push(cluster.get({ resource: otherResources.namespace, name: defaultNamespace }));
    return (await Promise.all(found)).some((one) => one !== undefined && !one.metadata?.deletionTimestamp);
}
