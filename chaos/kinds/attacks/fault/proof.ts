/**
 * The proof of a fault: what the witness meets through the Service whose place a proxy has taken, and what the proxy
 * has counted.
 */
import type { V1ContainerStatus, V1Pod } from "../../../values/kubernetes-types";
import { isDeepStrictEqual } from "node:util";
import { kubectlFor } from "../../../values/kubectl";
import { parseJson } from "../../../values/json";
import type { Cluster } from "../../../cluster/client";
import { reason, type Reason } from "../../../values/reasons";
import type { Counted } from "../counted";
import type { Reported, RunAttack } from "../attack-kind";
import { samplesOf } from "./match";
import { behind, proxyOf, selectsNobody } from "./pointing";
import type { FoundService } from "./find";
import type { Fault, PodCounts, ProxyReport } from "./proxy/protocol";
import { resources } from "../../../cluster/resources";

/** What the Job's reports call the pods of a fault's Service, at each of its ports, with a request of each sort. */
export function reportedOf({ attack, chosen }: RunAttack<Pick<Fault, "match">, FoundService>): Reported {
    const { found, targets, leftOut = [] } = chosen;
    const listening = (some: readonly string[]) =>
        some.flatMap((pod) => listeningIn(found!, pod)).filter(({ name }) => !leftOut.includes(name));
    const pods = [...new Set(targets.map(({ pod }) => pod))];
    const hit = listening(pods);
    const unmatched = samplesOf(attack.match).flatMap(({ differs }) => differs ?? []);
    return {
        hit: hit.map(({ name }) => name),
        spared: listening(found!.pods.filter((pod) => !pods.includes(pod))).map(({ name }) => name),
        passed: hit.flatMap(({ nameWith }) => unmatched.map(nameWith)),
    };
}

/** Where a Service leads in a pod: the name in reports, and the port of the proxy. */
export const listeningIn = ({ service, ports }: Pick<FoundService, "service" | "ports">, pod: string) =>
    ports.flatMap(({ port, listen, without }) => {
        const nameWith = (differs?: string) => behind(service, port, pod, differs);
        return without?.includes(pod) ? [] : { name: nameWith(), nameWith, listen };
    });

/** Why a fault does not show at its targets, if its Service or its proxy says so. */
export async function explainFault(
    { namespace, object: proxy, chosen }: RunAttack<unknown, FoundService>,
    cluster: Cluster,
    job: string,
): Promise<Reason | undefined> {
    const { service, selector } = chosen.found!;
    const [found, pod] = await Promise.all([
        cluster.get({ resource: resources.service, name: service, namespace }),
        // A proxy that is being deleted goes on for a while, but accepts no new callers.
        cluster
            .get({ resource: resources.pod, name: proxy, namespace })
            .then((one) => (one?.metadata?.deletionTimestamp ? undefined : one)),
    ]);
    if (found === undefined) return reason("service-changed", `the Service ${service} was deleted during the run`);
    const isPointed = proxyOf(found) === proxy && !selectsNobody(found);
    const isRunning = pod?.status?.phase === "Running";
    const restarts = pod === undefined ? undefined : whyRestarted(pod);
    if (isPointed && isRunning && restarts !== undefined)
        return reason(
            "proxy-failed",
            `the fault's proxy, pod ${proxy}, ${restarts}; its callers got no answer meanwhile`,
        );
    if (isPointed && isRunning) return undefined;
    const seeWhy = `see why: ${kubectlFor(cluster, namespace)} logs job/${job}`;
    if (!isPointed && !isDeepStrictEqual(found.spec?.selector, selector))
        return reason("service-changed", `somebody changed the selector of Service ${service} during the run`);
    if (pod !== undefined && !isRunning)
        return reason("proxy-failed", `the fault's proxy, pod ${proxy}, ended during the run; ${seeWhy}`);
    // The Job leaves this, whether somebody deleted the lease or the proxy, or applied the Service as it had been.
    if (!isRunning)
        return reason("attack-not-held", `the fault ended during the run, and its proxy is gone; ${seeWhy}`);
    return reason("service-changed", `somebody changed the selector of Service ${service} during the run`);
}

/** Says that the proxy has died and was restarted, with the reason. */
export function whyRestarted({ status }: Pick<V1Pod, "status">): string | undefined {
    const [container] = (status?.containerStatuses ?? []) as Partial<V1ContainerStatus>[];
    const { restartCount: count = 0, lastState } = container ?? {};
    if (count === 0) return undefined;
    const { reason: why, exitCode } = lastState?.terminated ?? {};
    const how = why === undefined ? "" : ` (${why}, exit code ${exitCode})`;
    return `was restarted ${count === 1 ? "once" : `${count} times`}${how}`;
}

/** The proxy reports every 2 s, and may log several lines about errors between two reports. */
const tailLines = 100;

/** @returns undefined if it cannot be read: the proxy may have ended with its attack */
export async function readCounts(
    { object: name, namespace, chosen: { targets } }: RunAttack<unknown>,
    cluster: Cluster,
): Promise<Counted | undefined> {
    const log = await cluster.log({ name, namespace }, { tailLines }).catch(() => undefined);
    const report = lastReportIn<ProxyReport>(log ?? "", "pods");
    if (report === undefined) return undefined;
    const { since, refused, clients } = report;
    const ofTargets = [...new Set(targets.map(({ uid }) => uid))].flatMap((uid) => report.pods[uid] ?? []);
    const sum = (field: keyof PodCounts, pods = ofTargets) => pods.reduce((all, one) => all + (one[field] ?? 0), 0);
    const ofChecks = sum("ofChecks", Object.values(report.pods));
    const some = (["unmatched", "throttled", "cut", "paused"] as const).flatMap((field) => {
        const count = sum(field);
        return count > 0 ? [[field, count] as const] : [];
    });
    const counts = {
        requests: sum("requests"),
        faulted: sum("faulted"),
        unfaultable: sum("unfaultable"),
        ...Object.fromEntries(some),
        ...(ofChecks > 0 && { ofChecks, ofChecksFaulted: sum("ofChecksFaulted") }),
        ...(refused !== undefined && { refused }),
        ...(clients !== undefined && { clients }),
    };
    return { counts, ...(since !== undefined && { since }) };
}

/** The last of a proxy's reports that has a field, among lines for people. */
export const lastReportIn = <R extends object>(log: string, field: keyof R): R | undefined =>
    log
        .split("\n")
        .map((line) => parseJson(line) as R | null | undefined)
        .findLast((report) => report?.[field] !== undefined) ?? undefined;
