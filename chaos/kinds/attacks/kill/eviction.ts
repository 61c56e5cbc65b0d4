/** What the API server is asked for an eviction, and how it refuses one. Has no client: the deadline Job asks, too. */

/** What is read of a Status object. */
export interface Status {
    code?: number;
    message?: string;
    details?: { causes?: { reason?: string; message?: string }[] };
}

/**
 * Asks for the eviction of a pod, and of no other by its name.
 * https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
 */
export const evictionOf = ({ namespace, name }: { namespace: string; name: string }, uid: string) => ({
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace },
    deleteOptions: { preconditions: { uid } },
});

/** In the API server's words: two budgets select the pod, or a webhook or policy denies the request. */
const refusing = /more than one PodDisruptionBudget|denied (the )?request/;

/**
 * Why an eviction was refused, in the API server's words. Undefined if it was not, or failed for another reason: a busy
 * API server answers with status 429 as well as a PodDisruptionBudget does.
 */
export function refusalIn({ code, message = "", details }: Status): string | undefined {
    const ofBudget = (details?.causes ?? []).filter((cause) => cause.reason === "DisruptionBudget");
    if (!(code === 429 && ofBudget.length > 0) && !refusing.test(message)) return undefined;
    return [message, ...ofBudget.flatMap((cause) => cause.message ?? [])].join(" ").replace(/\.$/, "");
}
