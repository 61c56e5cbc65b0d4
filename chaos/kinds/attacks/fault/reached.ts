/** What a fault's proxy reaches before its Service points to it. */
import { poll } from "../../../values/async";
import { parseJson } from "../../../values/json";
import type { Cluster } from "../../../cluster/client";
import { isActive, isReady } from "../../../values/kubernetes-rules";
import { selectorOf } from "../../../cluster/labels";
import { kubectlFor } from "../../../values/kubectl";
import { enforcementTimeoutMs } from "../../../policies/enforcement";
import { reason, type Reason } from "../../../values/reasons";
import type { RunAttack } from "../attack-kind";
import type { FoundService } from "./find";
import { listeningIn } from "./proof";
import type { ReachReport, Tried } from "./proxy/protocol";
import { resources } from "../../../cluster/resources";

type FaultOfRun = RunAttack<unknown, FoundService>;

/** How long a pod that rejects the proxy is tried: a policy may be in the way at first. */
const refusedMs = 2_000;
const pauseMs = 250;
const tailLines = 1_000;

/**
 * Waits until the proxy has reached the Service's pods. Ends earlier if, 2 s after its beginning, what is missing only
 * rejects connections or is gone; and at once if the proxy is gone.
 *
 * @returns what is missing then, by the names of the Job's reports: callers do not reach it either; or why callers
 *     would lose more than the fault takes from them
 * @throws Error if the API server does not say
 */
export async function awaitReach(attack: FaultOfRun, cluster: Cluster): Promise<{ leftOut: string[] } | Reason> {
    const begun = performance.now();
    const look = () => unreached(attack, cluster).catch((error: unknown) => ({ error }));
    const isEnough = (seen: Awaited<ReturnType<typeof look>>) =>
        "leftOut" in seen
            ? seen.leftOut.length === 0 || performance.now() - begun > refusedMs
            : "code" in seen && seen.code === "proxy-failed";
    const seen = await poll(look, isEnough, enforcementTimeoutMs, pauseMs);
    if ("error" in seen) throw seen.error;
    return seen;
}

async function unreached(attack: FaultOfRun, cluster: Cluster): Promise<{ leftOut: string[] } | Reason> {
    const { found, targets } = attack.chosen;
    if (!(await isThere(attack, cluster))) {
        const message = `the fault's proxy, pod ${attack.object}, ended before the fault began`;
        return reason("proxy-failed", `${message}; see its events: ${showEvents(attack, cluster)}`);
    }
    const tried = await lastReach(attack, cluster);
    const sawAt = (pod: string, port: number) =>
        tried.find((one) => one.pod === pod && one.listen === port)?.saw ?? "silent";
    const ports = found!.pods.flatMap((pod) =>
        listeningIn(found!, pod).map(({ name, listen }) => ({ pod, name, saw: sawAt(pod, listen) })),
    );
    const missing = ports.filter(({ saw }) => saw !== "connected");
    if (missing.length === 0) return { leftOut: [] };
    // Others have gone since the targets were chosen.
    const ready = await readyPods(attack, cluster);
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

/** Somebody may have ended the run, and the proxy with it. */
async function isThere({ object: name, namespace }: FaultOfRun, cluster: Cluster): Promise<boolean> {
    const proxy = await cluster.get({ resource: resources.pod, name, namespace });
    return proxy !== undefined && isActive(proxy);
}

/** The events of a proxy outlive it: the end of a run deletes it. */
export const showEvents = ({ object: name, namespace }: FaultOfRun, cluster: Cluster): string =>
    `${kubectlFor(cluster, namespace)} get events --field-selector involvedObject.name=${name}`;

async function lastReach({ object: name, namespace }: FaultOfRun, cluster: Cluster): Promise<Tried[]> {
    const log = await cluster.log({ name, namespace }, { tailLines });
    const reports = log.split("\n").map((line) => (parseJson(line) as Partial<ReachReport> | null | undefined)?.reach);
    return reports.findLast((reach) => reach !== undefined) ?? [];
}

async function readyPods({ namespace, chosen }: FaultOfRun, cluster: Cluster): Promise<Set<string>> {
    const labelSelector = selectorOf(chosen.found!.selector);
    const items = await cluster.all(resources.pod, { namespace, labelSelector });
    return new Set(items.filter(isReady).map(({ metadata }) => metadata!.name!));
}
