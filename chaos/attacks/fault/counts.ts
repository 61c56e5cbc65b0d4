/**
 * What a fault's proxy says that it did: how much reached the targets through the Service, and how much of it was hit.
 */
import type { Cluster } from "../../cluster/client";
import { describeShare } from "../../share";
import type { PodCounts, ProxyReport } from "./proxy/protocol";
import type { Target } from "../../targets/containers";
import { reason, type Reason } from "../../reasons";

/** Requests in HTTP/1.1 and connections of anything else, to the targets through the Service. Probes do not count. */
export type Faulted = Pick<PodCounts, "requests" | "faulted" | "unfaultable">;

/** The proxy reports every 2 s; what it says of errors between two reports may be longer than a few lines. */
const tailLines = 100;

/**
 * Reads what a proxy has counted since it took the Service's place.
 *
 * @returns undefined if it cannot be read: the proxy may have ended with its attack
 */
export async function readFaulted(
    { core }: Cluster,
    proxy: { name: string; namespace: string },
    targets: readonly Target[],
): Promise<Faulted | undefined> {
    const log = await core.readNamespacedPodLog({ ...proxy, tailLines }).catch(() => undefined);
    const report = (log ?? "")
        .split("\n")
        .map(parse)
        .findLast((one) => one !== undefined);
    if (report === undefined) return undefined;
    const counts = [...new Set(targets.map(({ uid }) => uid))].flatMap((uid) => report.pods[uid] ?? []);
    const sum = (field: keyof Faulted) => counts.reduce((total, count) => total + count[field], 0);
    return { requests: sum("requests"), faulted: sum("faulted"), unfaultable: sum("unfaultable") };
}

function parse(line: string): ProxyReport | undefined {
    try {
        const report = JSON.parse(line) as Partial<ProxyReport> | null;
        return report?.pods === undefined ? undefined : (report as ProxyReport);
    } catch {
        return undefined;
    }
}

/**
 * Why it is not known that a fault has hit somebody, although it was there. Undefined if it has.
 *
 * @param counted undefined if it could not be read
 */
export function whyHitNobody(counted: Faulted | undefined, service: string, share: number): Reason | undefined {
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
    const hit = `0 of ${requests} requests through Service ${service} were hit at ${describeShare(share)}`;
    return reason("fault-hit-nobody", `${hit}; use a longer window`);
}

/** For people. */
export const describeFaulted = ({ requests, faulted }: Faulted): string => `${faulted} of ${requests} requests hit`;
