/**
 * The proof of a fault: what the witness meets through the Service whose place a proxy has taken; and what the proxy
 * says that it did: how much reached the targets through the Service, and how much of it was hit.
 */
import { isDeepStrictEqual } from "node:util";
import { kubectlFor } from "../../kubectl";
import { parseJson } from "../../json";
import { type Cluster, ignoreNotFound } from "../../cluster/client";
import { reason, type Reason } from "../../reasons";
import { describeShare } from "../../share";
import type { Counts, RunAttack } from "../kind";
import { behind, proxyOf, selectsNobody } from "./pointing";
import type { FoundService } from "./find";
import type { Fault, ProxyReport } from "./proxy/protocol";

/** What the Job's reports call the pods of a fault's Service, at each of its ports. */
export function reportedOf({ chosen: { found, targets, leftOut = [] } }: RunAttack<unknown, FoundService>) {
    const { pods } = found!;
    const namesOf = (some: readonly string[]) =>
        some
            .flatMap((pod) => listeningIn(found!, pod).map(({ name }) => name))
            .filter((name) => !leftOut.includes(name));
    const hit = [...new Set(targets.map(({ pod }) => pod))];
    return { hit: namesOf(hit), spared: namesOf(pods.filter((pod) => !hit.includes(pod))) };
}

/** Where a Service leads in a pod, as reports call it, and by which port of the proxy. */
export const listeningIn = ({ service, ports }: Pick<FoundService, "service" | "ports">, pod: string) =>
    ports.flatMap(({ port, listen, without }) =>
        without?.includes(pod) ? [] : { name: behind(service, port, pod), listen },
    );

/** Why a fault does not show at its targets, if its Service or its proxy says so. */
export async function explainFault(
    { namespace, object: proxy, chosen }: RunAttack<unknown, FoundService>,
    cluster: Cluster,
    job: string,
): Promise<Reason | undefined> {
    const { core } = cluster;
    const { service, selector } = chosen.found!;
    const [found, pod] = await Promise.all([
        ignoreNotFound(core.readNamespacedService({ name: service, namespace })),
        ignoreNotFound(core.readNamespacedPod({ name: proxy, namespace })),
    ]);
    if (found === undefined) return reason("service-changed", `the Service ${service} was deleted during the run`);
    const isPointed = proxyOf(found) === proxy && !selectsNobody(found);
    const isRunning = pod?.status?.phase === "Running";
    if (isPointed && isRunning) return undefined;
    // The Job ends a fault at once, and removes its proxy. The old selector may be somebody's, too: its log says why.
    if (!isRunning && (isPointed || isDeepStrictEqual(found.spec?.selector, selector)))
        return reason(
            "proxy-failed",
            `the fault's proxy, pod ${proxy}, ended during the run; see why: ${kubectlFor(cluster, namespace)} ` +
                `logs job/${job}`,
        );
    return reason("service-changed", `somebody changed the selector of Service ${service} during the run`);
}

/** The proxy reports every 2 s; what it says of errors between two reports may be longer than a few lines. */
const tailLines = 100;

/** @returns undefined if it cannot be read: the proxy may have ended with its attack */
export async function readCounts(
    { object: name, namespace, chosen: { targets } }: RunAttack<unknown>,
    { core }: Cluster,
): Promise<Counts | undefined> {
    const log = await core.readNamespacedPodLog({ name, namespace, tailLines }).catch(() => undefined);
    const report = (log ?? "")
        .split("\n")
        .map(parse)
        .findLast((one) => one !== undefined);
    if (report === undefined) return undefined;
    const counts = [...new Set(targets.map(({ uid }) => uid))].flatMap((uid) => report.pods[uid] ?? []);
    const sum = (field: keyof Counts) => counts.reduce((total, count) => total + count[field], 0);
    return { requests: sum("requests"), faulted: sum("faulted"), unfaultable: sum("unfaultable") };
}

function parse(line: string): ProxyReport | undefined {
    const report = parseJson(line) as Partial<ProxyReport> | null | undefined;
    return report?.pods === undefined ? undefined : (report as ProxyReport);
}

/** Why it is not known that a fault has hit somebody, although it was there. Undefined if it has. */
export function whyHitNobody(
    { service, percentage }: Pick<Fault, "service" | "percentage">,
    counted: Counts | undefined,
): Reason | undefined {
    if (counted === undefined)
        return reason(
            "fault-uncounted",
            `the counts of the proxy of Service ${service} could not be read from its log`,
        );
    const { requests, faulted, unfaultable } = counted;
    if (unfaultable > 0)
        return reason(
            "fault-not-http",
            `${unfaultable} of ${requests} connections through Service ${service} were not HTTP/1.1 in clear text, ` +
                'and no status could answer them; use abort "reset" or "hang"',
        );
    if (requests === 0)
        return reason("fault-hit-nobody", `0 requests reached the targets through Service ${service} during the run`);
    if (faulted > 0) return undefined;
    const hit = `0 of ${requests} requests through Service ${service} were hit at ${describeShare(percentage / 100)}`;
    return reason("fault-hit-nobody", `${hit}; use a longer window`);
}
