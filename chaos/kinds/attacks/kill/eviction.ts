/** Requests for evictions, and how they are refused. Without a client, because the deadline Job uses this file, too. */

export interface Status {
    code?: number;
    message?: string;
    details?: { causes?: { reason?: string; message?: string }[] };
}

/**
 * The eviction of a pod, identified by its uid: https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
 */
export const evictionOf = ({ namespace, name }: { namespace: string; name: string }, uid: string) => ({
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace },
    deleteOptions: { preconditions: { uid } },
});

/** What the API server says if two budgets select the pod, or if a webhook or a policy denies the request. */
const refusing = /more than one PodDisruptionBudget|denied (the )?request/;

/**
 * Why an eviction was refused, in the API server's words. Undefined if it was not, or if it failed for another reason:
 * a busy API server answers with status 429, as it does for a PodDisruptionBudget.
 */
export function evictionRefusal({ code, message = "", details }: Status): string | undefined {
    const ofBudget = (details?.causes ?? []).filter((cause) => cause.reason === "DisruptionBudget");
    if (!(code === 429 && ofBudget.length > 0) && !refusing.test(message)) return undefined;
    return [message, ...ofBudget.flatMap((cause) => cause.message ?? [])].join(" ").replace(/\.$/, "");
}
