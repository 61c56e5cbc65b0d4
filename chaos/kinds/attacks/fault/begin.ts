import type { Cluster } from "../../../cluster/client";
import { hasEnded, isReady, whyNotRunning } from "../../../values/kubernetes-rules";
import { lend } from "../../../cluster/lend";
import { resources } from "../../../cluster/resources";
import { poll } from "../../../values/async";
import { reason, type Reason, ReasonError } from "../../../values/reasons";
import type { RunAttack } from "../attack-kind";
import type { FoundService } from "./find";
import { pointedService, pointing } from "./pointing";
import { whyRestarted } from "./proof";
import { awaitReach, showEvents } from "./reached";

/** How long a proxy may take to be ready: its image may have to be pulled. */
export const readyWithinMs = 120_000;

/**
 * Waits for a fault's proxy, and until it has reached the Service's pods.
 *
 * @returns what nothing listens at, or why it does not work
 * @throws Error if the API server does not say
 */
export async function proxyReady(
    attack: RunAttack<unknown, FoundService>,
    cluster: Cluster,
): Promise<{ leftOut: string[] } | Reason> {
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
    const message = `the fault's proxy, pod ${name}, is not ready${restarted ? `: it ${restarted}` : said}`;
    return reason("proxy-failed", `${message}; see its events: ${showEvents(attack, cluster)}`);
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
