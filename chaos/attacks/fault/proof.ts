/** The proof of a fault: what the witness meets through the Service whose place a proxy has taken. */
import { type Cluster, ignoreNotFound } from "../../cluster/client";
import { reason, type Reason } from "../../reasons";
import type { RunAttack } from "../kind";
import { behind, proxyOf, selectsNobody } from "./pointing";
import type { FoundService } from "./find";

/** What the Job's reports call the pods of a fault's Service, at each of its ports. */
export function reportedOf({ chosen: { found, targets } }: RunAttack<unknown, FoundService>) {
    const { service, ports, pods } = found!;
    const namesOf = (some: readonly string[]) =>
        some.flatMap((pod) => ports.map(({ port }) => behind(service, port, pod)));
    const hit = [...new Set(targets.map(({ pod }) => pod))];
    return { hit: namesOf(hit), spared: namesOf(pods.filter((pod) => !hit.includes(pod))) };
}

/** Why a fault does not show at its targets, if its Service or its proxy says so. */
export async function explainFault(
    { namespace, object: proxy, chosen }: RunAttack<unknown, FoundService>,
    { core }: Cluster,
    job: string,
): Promise<Reason | undefined> {
    const { service } = chosen.found!;
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
