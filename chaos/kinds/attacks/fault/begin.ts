/** What the run does for a fault before it begins, and how it begins it. */
import { lend } from "../../../cluster/lend";
import { poll } from "../../../values/async";
import { type Cluster, unlessForbidden } from "../../../cluster/client";
import { hasEnded, isActive, isReady, whyNotRunning } from "../../../values/kubernetes-rules";
import { annotations, labels, selectorOf } from "../../../cluster/labels";
import { otherResources, resources } from "../../../cluster/resources";
import { kubectlFor } from "../../../values/kubectl";
import type { NewPolicy } from "../../../policies/own-policies";
import { enforcementTimeoutMs } from "../../../policies/enforcement";
import { selects } from "../../../policies/selector";
import { reason, type Reason, ReasonError } from "../../../values/reasons";
import type { Policed, RunAttack } from "../attack-kind";
import { labelsOf, proxyPolicies, refuseForeignCallers } from "./access";
import { type FaultAttack, faultOf } from "./fault-attack";
import type { FoundService } from "./find";
import { pointedService, pointing } from "./pointing";
import { lastReportIn, listeningIn, whyRestarted } from "./proof";
import { beginsLate, type ReachReport } from "./proxy/protocol";
import { whyUnread } from "./unserved";

type FaultOfRun<A = unknown> = RunAttack<A, FoundService>;
type ReadingFault = FaultOfRun<Pick<FaultAttack, "abort" | "match">>;

/** The policies that let an attack's proxy work. @throws Error as `proxyPolicies` and `refuseForeignCallers` do */
export async function admitProxy(
    { experiment, namespace, object: proxy, chosen }: FaultOfRun,
    cluster: Cluster,
    { policies, pass }: Policed,
): Promise<NewPolicy[]> {
    const service = chosen.found!;
    const [all, own, everywhere] = await Promise.all([
        cluster.all(resources.pod, { namespace }),
        cluster.read({ resource: otherResources.namespace, name: namespace }),
        // A person may have rights in one namespace and nowhere else.
        unlessForbidden(cluster.all(resources.networkPolicy)),
    ]);
    const pods = all.filter((pod) => !hasEnded(pod) && selects({ matchLabels: service.selector }, labelsOf(pod)));
    const access = { service, proxy, experiment, pods, namespace: labelsOf(own) };
    refuseForeignCallers(everywhere ?? [], access);
    const [ofProxy, ...others] = proxyPolicies(policies, { ...access, pass, attacked: chosen.chosenBy! });
    const { selector, ports } = service;
    // The Job reads this to see whether a policy that comes later keeps somebody from the proxy.
    const noted = { service: { service: service.service, selector, ports }, namespace: access.namespace };
    return [{ ...ofProxy!, annotations: { [annotations.access]: JSON.stringify(noted) } }, ...others];
}

/** How long a proxy may take to be ready: its image may have to be pulled. */
export const readyWithinMs = 120_000;
/** How long a pod that rejects the proxy is tried: a policy may be in the way at first. */
const refusedMs = 2_000;
const pauseMs = 250;
const tailLines = 1_000;

/**
 * Waits for a fault's proxy, and until it has reached the Service's pods.
 *
 * @returns as `awaitReach`, or why the proxy is not ready
 * @throws Error if the API server does not say
 */
export async function proxyReady(attack: ReadingFault, cluster: Cluster): Promise<{ leftOut: string[] } | Reason> {
    const { namespace, object: name } = attack;
    const read = async () => ({ pod: await cluster.get({ resource: resources.pod, name, namespace }) });
    const look = () => read().catch((error: unknown) => ({ error }));
    const isKnown = (seen: Awaited<ReturnType<typeof look>>) =>
        "pod" in seen &&
        (seen.pod === undefined || isReady(seen.pod) || hasEnded(seen.pod) || whyRestarted(seen.pod) !== undefined);
    const found = await poll(look, isKnown, readyWithinMs);
    if ("error" in found) throw found.error;
    if (found.pod !== undefined && isReady(found.pod)) return awaitReach(attack, cluster);
    const restarted = found.pod && whyRestarted(found.pod);
    const why = found.pod && whyNotRunning(found.pod);
    const said = why === undefined ? "" : `: its status says ${why}`;
    return proxyFailed(attack, cluster, `is not ready${restarted ? `: it ${restarted}` : said}`);
}

/** The events of a proxy outlive it: the end of a run deletes it. */
function proxyFailed({ object: name, namespace }: FaultOfRun, cluster: Cluster, how: string): Reason {
    const events = `${kubectlFor(cluster, namespace)} get events --field-selector involvedObject.name=${name}`;
    return reason("proxy-failed", `the fault's proxy, pod ${name}, ${how}; see its events: ${events}`);
}

/**
 * Waits until the proxy has reached the Service's pods. Ends earlier if, 2 s after its beginning, what is missing only
 * rejects connections or is gone, and at once if the proxy is gone.
 *
 * @returns what is missing then, by the names of the Job's reports: callers do not reach it either; or why callers
 *   would lose more than the fault takes from them
 * @throws Error if the API server does not say
 */
export async function awaitReach(attack: ReadingFault, cluster: Cluster): Promise<{ leftOut: string[] } | Reason> {
    const begun = performance.now();
    const look = () => unreached(attack, cluster).catch((error: unknown) => ({ error }));
    const isEnough = (seen: Awaited<ReturnType<typeof look>>) =>
        "leftOut" in seen
            ? seen.leftOut.length === 0 || performance.now() - begun > refusedMs
            : "code" in seen && seen.code !== "baseline-failed";
    const seen = await poll(look, isEnough, enforcementTimeoutMs, pauseMs);
    if ("error" in seen) throw seen.error;
    return seen;
}

async function unreached(attack: ReadingFault, cluster: Cluster): Promise<{ leftOut: string[] } | Reason> {
    const { object: name, namespace } = attack;
    const { found, targets } = attack.chosen;
    const proxy = await cluster.get({ resource: resources.pod, name, namespace });
    // Somebody may have ended the run, and the proxy with it.
    if (proxy === undefined || !isActive(proxy)) return proxyFailed(attack, cluster, "ended before the fault began");
    const log = await cluster.log({ name, namespace }, { tailLines });
    const { reach: tried = [] } = lastReportIn<ReachReport>(log, "reach") ?? {};
    const sawAt = (pod: string, port: number) =>
        tried.find((one) => one.pod === pod && one.listen === port)?.saw ?? "silent";
    const ports = found!.pods.flatMap((pod) =>
        listeningIn(found!, pod).map(({ name, listen }) => ({ pod, name, saw: sawAt(pod, listen) })),
    );
    const encrypted = ports.find(({ saw }) => saw === "encrypted");
    if (encrypted !== undefined) {
        const why = whyUnread(attack.attack, `${encrypted.name} answers in TLS`);
        return reason("service-unfit", `a fault cannot be done to Service ${found!.service}: ${why}`);
    }
    const missing = ports.filter(({ saw }) => saw !== "connected");
    if (missing.length === 0) return { leftOut: [] };
    // Pods that have gone since the targets were chosen are not lost by the fault.
    const pods = await cluster.all(resources.pod, { namespace, labelSelector: selectorOf(found!.selector) });
    const ready = new Set(pods.filter(isReady).map(({ metadata }) => metadata!.name!));
    const isReached = (wanted: string) => ports.some(({ pod, saw }) => pod === wanted && saw === "connected");
    const lost = missing.filter(
        ({ pod, saw }) =>
            ready.has(pod) && (saw === "silent" || (targets.some((one) => one.pod === pod) && !isReached(pod))),
    );
    if (lost.length === 0) return { leftOut: missing.map(({ name }) => name) };
    const names = lost.map(({ name }) => name).join(", ");
    const message = `the fault's proxy could not connect to ${names} before the fault began`;
    return reason("baseline-failed", `${message}: callers would have lost it`);
}

/** Points a Service to a fault's proxy: the fault begins. @throws Error as `pointing` does, or if it is gone */
export async function pointToProxy(
    { namespace, run, object: proxy, chosen }: RunAttack<unknown, Pick<FoundService, "service" | "selector">>,
    cluster: Cluster,
): Promise<void> {
    const { service: name, selector } = chosen.found!;
    const service = { resource: resources.service, namespace, name };
    if (await lend(cluster, service, pointedService, pointing(run, proxy, selector))) return;
    throw new ReasonError("service-changed", `the Service ${name} is gone`, "Start another run");
}

/**
 * Says that answers count from now on to a fault that begins only then: others would use it up before. The proxy may
 * only list EndpointSlices, which have the labels of their Service.
 */
export async function beginCounting(
    { namespace, object: name, attack }: RunAttack<FaultAttack>,
    cluster: Cluster,
): Promise<void> {
    const labeled = { metadata: { labels: { [labels.counting]: "true" } } };
    if (beginsLate(faultOf(attack))) await cluster.patch({ resource: resources.service, namespace, name }, labeled);
}
