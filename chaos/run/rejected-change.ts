import { statusOf } from "../cluster/client";
import { problemOf } from "../cluster/problem";
import { type ReasonCode, ReasonError } from "../values/reasons";

/** Whether the cluster rejects a change for good: a quota, an admission webhook or policy, or a missing right. */
export const isRejection = (error: unknown) => [400, 403, 422].includes(statusOf(error) ?? 0);

/**
 * For `catch` of a change that the run needs.
 *
 * @param seen completes "… : ", before the words of what rejects it
 * @throws ReasonError if it was rejected; the error as it is, if the update may be repeated after it
 */
export const abortIfRejected = (code: ReasonCode, seen: string, advice: string) => (error: unknown) => {
    throw isRejection(error) ? new ReasonError(code, `${seen}: ${problemOf(error)}`, advice) : error;
};
