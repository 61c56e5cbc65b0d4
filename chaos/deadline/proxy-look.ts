import { isReady, type Pod } from "../targets/containers";
import { bodyOf, get } from "./api";
import type { JobAttack, Through } from "./protocol";

export const isFault = (attack: JobAttack): attack is JobAttack & { through: Through } => attack.through !== undefined;

/** The proxies that were ready once, by their paths. */
const wereReady = new Set<string>();

/**
 * Whether a fault's proxy works: as long as it is not ready, nobody reaches the Service whose place it has taken. One
 * that was never ready has taken nobody's place.
 *
 * @returns undefined if it was never ready
 * @throws Error if the API server does not say
 */
export async function proxyWorks({ path }: JobAttack): Promise<boolean | undefined> {
    const answer = await get(path);
    const pod = answer.status === 404 ? undefined : (JSON.parse(bodyOf(answer, "the proxy cannot be read")) as Pod);
    const works = pod !== undefined && isReady(pod) && pod.metadata!.deletionTimestamp === undefined;
    if (works) wereReady.add(path);
    return wereReady.has(path) ? works : undefined;
}
