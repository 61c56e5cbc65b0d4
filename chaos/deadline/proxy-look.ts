import type { V1Service } from "@kubernetes/client-node";
import { selectsNobody } from "../fault/pointing";
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

/**
 * Whether nobody reaches a fault's Service, since somebody has merged labels into its selector.
 *
 * @throws Error if the API server does not say
 */
export async function isOutOfReach(namespace: string, { through }: JobAttack & { through: Through }): Promise<boolean> {
    const answer = await get(`/api/v1/namespaces/${namespace}/services/${through.service}`);
    return (
        answer.status !== 404 &&
        selectsNobody(JSON.parse(bodyOf(answer, `Service ${through.service} cannot be read`)) as V1Service)
    );
}
