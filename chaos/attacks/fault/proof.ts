/** The proof of a fault: what the witness meets through the Service whose place a proxy has taken. */
import { type Cluster, ignoreNotFound } from "../../cluster/client";
import { behind } from "../../job/protocol";
import type { ConnectionReport } from "../../job/protocol";
import { proxyOf, selectsNobody } from "./pointing";
import type { Proxied } from "./proxied";
import { reason, type Reason } from "../../reasons";

/** What reports call some pods of a Service, at each of its ports. */
export const namesBehind = ({ service, ports }: Proxied, pods: readonly string[]): string[] =>
    [...new Set(pods)].flatMap((pod) => ports.map(({ port }) => behind(service, port, pod)));

/** How long a pod may be out of reach, in milliseconds: it is tried every second, and a busy one may miss a probe. */
const maxUnseenMs = 4_000;

/** The first of some names that was neither delayed nor aborted for a time, or could not be seen. */
export function unaffectedIn(
    reports: readonly ConnectionReport[],
    names: readonly string[],
): { name: string; was: "open" | "unseen" } | undefined {
    const unseenSince = new Map<string, number>();
    for (const { at, open, closed } of reports) {
        const [those, affected] = [new Set(open), new Set(closed)];
        for (const name of names) {
            if (those.has(name)) return { name, was: "open" };
            if (affected.has(name)) unseenSince.delete(name);
            else if (at - (unseenSince.get(name) ?? at) > maxUnseenMs) return { name, was: "unseen" };
            else unseenSince.set(name, unseenSince.get(name) ?? at);
        }
    }
    return undefined;
}

/** Why a fault does not show at its targets, if its Service or its proxy says so. */
export async function explainFault(
    { core }: Cluster,
    namespace: string,
    { service }: Proxied,
    { proxy, job }: { proxy: string; job: string },
): Promise<Reason | undefined> {
    const [found, pod] = await Promise.all([
        ignoreNotFound(core.readNamespacedService({ name: service, namespace })),
        ignoreNotFound(core.readNamespacedPod({ name: proxy, namespace })),
    ]);
    if (found === undefined) return reason("service-changed", `the Service ${service} was deleted during the run`);
    if (pod === undefined || pod.status?.phase !== "Running")
        return reason(
            "proxy-failed",
            `the fault's proxy, pod ${proxy}, ended during the run; see why: kubectl --namespace ${namespace} ` +
                `logs job/${job}`,
        );
    if (proxyOf(found) !== proxy || selectsNobody(found))
        return reason("service-changed", `somebody changed the selector of Service ${service} during the run`);
    return undefined;
}
