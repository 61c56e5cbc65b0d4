import type { Through } from "../kind";
import { referenceAt, resources } from "../../cluster/resources";
import { proxyOf, selectsNobody } from "./pointing";
import { isReady, type Pod } from "../../targets/containers";
import { objectApi } from "../../job/api";
import type { JobAttack } from "../../job/protocol";

export const isFault = (attack: JobAttack): attack is JobAttack & { through: Through } => attack.through !== undefined;

/**
 * Why nobody reaches the Service whose place a fault's proxy has taken. Undefined if callers reach it, and as long as
 * it does not point to the proxy.
 *
 * @throws Error if the API server does not say
 */
export async function whyOutOfReach(
    namespace: string,
    { path, through: { service } }: JobAttack & { through: Through },
): Promise<string | undefined> {
    const reference = { resource: resources.service, namespace, name: service };
    const current = await objectApi.get(reference);
    if (current === undefined) return undefined;
    if (selectsNobody(current)) return `somebody has changed the selector of Service ${service}, which selects nobody`;
    if (!path.endsWith(`/${proxyOf(current)}`)) return undefined;
    const pod = (await objectApi.get(referenceAt(path))) as Pod | undefined;
    const works = pod !== undefined && isReady(pod) && pod.metadata!.deletionTimestamp === undefined;
    return works ? undefined : `the proxy of Service ${service} has ended, or does not answer`;
}
