import { isRejection, problemOf } from "../cluster/problem";
import { type ReasonCode, ReasonError } from "../values/reasons";

/**
 * For `catch` of a change that the run needs.
 *
 * @param seen completes "… : ", before the words of what rejects it
 * @throws ReasonError if it was rejected; the error as it is, if the update may be repeated after it
 */
export const abortIfRejected = (code: ReasonCode, seen: string, advice: string) => (error: unknown) => {
    throw isRejection(error) ? new ReasonError(code, `${seen}: ${problemOf(error)}`, advice) : error;
};
