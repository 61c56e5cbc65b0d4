import { decisive, type Reason, type ReasonCode, sentenceOf } from "../values/reasons";
import type { Judged } from "./judged-check";

export const verdicts = ["PASSED", "FAILED", "INCONCLUSIVE", "ABORTED"] as const;
export type Verdict = (typeof verdicts)[number];

/** These are about one check: of the others, it is known whether they held. */
export const reasonsOfOneCheck: readonly ReasonCode[] = [
    "sender-stalled",
    "application-not-seen",
    "limit-undecided",
    "confidence-not-reached",
    "too-few-answers",
];

/**
 * The verdict of a run that was not aborted, and why. Without attacks, there is none to prove. If some checks failed,
 * the reason names only those.
 *
 * | verdict      | when                                                                                             |
 * | ------------ | ------------------------------------------------------------------------------------------------ |
 * | ABORTED      | nothing was attacked: no steady state, a missing right, no target, …; see `abortingRun`          |
 * | INCONCLUSIVE | an attack is not proven; or no check failed beyond doubt, and of some it is unknown if they held |
 * | FAILED       | each attack is proven, and a check failed beyond doubt, even if another check is unknown;        |
 * |              | or an abort rule ended the run, and each attack was proven until then                            |
 * | PASSED       | each attack is proven, and every check held                                                      |
 *
 * @param unproven why no check can be judged: the attack is not proven, or something else spoilt the run
 * @returns with the code of the reason that counts, if it is INCONCLUSIVE
 */
export function judge(
    checks: readonly Judged[],
    unproven: readonly (Reason | undefined)[] = [],
): { verdict: Exclude<Verdict, "ABORTED">; code?: ReasonCode; reason: string } {
    const failed = checks.filter(({ held, inconclusive }) => !held && inconclusive === undefined);
    const unknown = failed.length > 0 ? [] : checks.map(({ inconclusive }) => inconclusive);
    const inconclusive = decisive([...unproven, ...unknown]);
    if (inconclusive !== undefined)
        return { verdict: "INCONCLUSIVE", code: inconclusive.code, reason: sentenceOf(inconclusive) };
    const told = failed.length > 0 ? failed : checks;
    const sentences = told.map(({ reason }) => reason.replace(/(?<![.!?])$/, told.length > 1 ? "." : ""));
    return { verdict: failed.length > 0 ? "FAILED" : "PASSED", reason: sentences.join(" ") };
}
