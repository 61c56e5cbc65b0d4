import type { Through } from "../attacks/kind";
import type { V1Service } from "@kubernetes/client-node";
import { proxyOf, selectsNobody } from "../fault/pointing";
import { isReady, type Pod } from "../targets/containers";
import { bodyOf, get } from "./api";
import type { JobAttack } from "./protocol";

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
    const found = await get(`/api/v1/namespaces/${namespace}/services/${service}`);
    if (found.status === 404) return undefined;
    const current = JSON.parse(bodyOf(found, `Service ${service} cannot be read`)) as V1Service;
    if (selectsNobody(current)) return `somebody has changed the selector of Service ${service}, which selects nobody`;
    if (!path.endsWith(`/${proxyOf(current)}`)) return undefined;
    const answer = await get(path);
    const pod = answer.status === 404 ? undefined : (JSON.parse(bodyOf(answer, "the proxy cannot be read")) as Pod);
    const works = pod !== undefined && isReady(pod) && pod.metadata!.deletionTimestamp === undefined;
    return works ? undefined : `the proxy of Service ${service} has ended, or does not answer`;
}
