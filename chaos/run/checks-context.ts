import { ApiServerPulse } from "../kinds/checks/api-server";
import type { CheckContext } from "../kinds/checks/check-kind";
import { Endpoints, type KnownRoutes, routeKey, serviceNamedBy } from "../kinds/checks/endpoints";
import { checkKindOf } from "../kinds/checks/registry";
import type { Cluster } from "../cluster/client";
import { otherResources, resources } from "../cluster/resources";
import type { Plan } from "../definition/plan";
import type { StepContext } from "./contract";

/** How long the checks wait for Secrets and ConfigMaps at most, in milliseconds. */
const preparationMs = 1_000;

/**
 * What checks are given that send requests at fixed times, before the attack and under it. It is prepared when it
 * returns, and its `pulse` must be stopped.
 *
 * @param known.pass by which the run's traces are recognized
 */
export async function checksContext(
    { plan, cluster }: Pick<StepContext, "plan" | "cluster">,
    known: KnownRoutes & { pass: string },
): Promise<CheckContext> {
    const pulse = pulseOf(plan, cluster, known);
    const endpoints = new Endpoints(cluster, plan.defaultNamespace, known);
    await endpoints.prepare(
        plan.checks.map(({ check }) => ({ check, usual: checkKindOf(check).usual })),
        preparationMs,
    );
    return { ...plan, cluster, endpoints, pulse, traceKey: known.pass };
}

/**
 * Watches the API server if a check asks over the network, by reading a Service or, without any, the default namespace.
 * If checks ask some Services through the API server's proxy, it is one of these.
 */
function pulseOf(plan: Plan, cluster: Cluster, { route, routes = {} }: KnownRoutes): ApiServerPulse | undefined {
    const { service, checks, defaultNamespace } = plan;
    const named = checks.flatMap(
        ({ check }) => serviceNamedBy(check, defaultNamespace, checkKindOf(check).usual) ?? [],
    );
    const throughProxy = [
        ...(service !== undefined && route?.kind === "apiServer" ? [service] : []),
        ...named.filter((one) => routes[routeKey(one)]?.kind === "apiServer"),
    ];
    if (!checks.some(({ check }) => checkKindOf(check).overNetwork)) return undefined;
    const [told = service ?? named[0]] = throughProxy;
    // The account may read either.
    const ask = () =>
        told
            ? cluster.read({ resource: resources.service, ...told })
            : cluster.read({ resource: otherResources.namespace, name: defaultNamespace });
    if (throughProxy.length === 0) return new ApiServerPulse(ask);
    const limits = checks.map(({ check, timeoutMs }) =>
        Math.min(timeoutMs, checkKindOf(check).limitMs?.(check) ?? timeoutMs),
    );
    return new ApiServerPulse(ask, Math.min(...limits));
}
