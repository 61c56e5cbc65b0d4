/** What the answers of a check add up to, and how that is said. */
import { type Answer, isStalled } from "../kinds/checks/answer";
import { describeMilliseconds } from "../values/duration";
import { greatestOf } from "../values/extremes";
import { sinceAttack } from "../values/since";

/** For how many answers this machine was late, and by how much at most. */
interface Stalled {
    answers: number;
    forMs: number;
}

/** What the answers of a check add up to. Times are milliseconds since the attack was proven; see `Judging`. */
export interface Measured {
    /** All answers, including those in the grace period. */
    requests: number;
    /** Answers after the grace period. Only these count for the verdict. */
    counted: number;
    /** Good answers among the counted. */
    good: number;
    /** Counted answers that say nothing about the application. */
    unseen: number;
    /** Those of them for which this machine was too late, and by how much at most. Undefined if there are none. */
    stalled?: Stalled;
    /** Counted answers that say something, though this machine was `noticeableMs` late. Undefined if there are none. */
    late?: Stalled;
    /** Undefined if no answer of the application was bad. */
    firstFailureMs?: number;
    /** From this time on, all answers were good. Undefined if the last one was bad, or if there was none. */
    stableAfterMs?: number;
}

/** @param answers of one check, in the order of asking */
export function measure(answers: readonly Answer[], attackedAt: number, graceMs: number): Measured {
    const counted = answers.filter(({ at }) => at >= attackedAt + graceMs);
    const seen = answers.filter(({ unseen }) => !unseen);
    const stalled = stalledAmong(counted.filter(isStalled));
    const late = stalledAmong(counted.filter((one) => !isStalled(one) && (one.stalledMs ?? 0) >= noticeableMs));
    const firstBad = seen.find(({ good }) => !good);
    const lastBad = seen.findLastIndex(({ good }) => !good);
    const stable = lastBad === -1 && seen.length > 0 ? attackedAt : seen[lastBad + 1]?.at;
    // A corrected clock may be behind the moment of the proof.
    const sinceAttackMs = (at: number) => Math.max(0, at - attackedAt);
    return {
        requests: answers.length,
        counted: counted.length,
        good: counted.filter(({ good }) => good).length,
        unseen: counted.filter(({ unseen }) => unseen).length,
        ...(stalled && { stalled }),
        ...(late && { late }),
        firstFailureMs: firstBad && sinceAttackMs(firstBad.at),
        stableAfterMs: stable === undefined ? undefined : sinceAttackMs(stable),
    };
}

function stalledAmong(answers: readonly Answer[]): Stalled | undefined {
    const stalls = answers.flatMap(({ stalledMs }) => stalledMs ?? []);
    return stalls.length === 0 ? undefined : { answers: stalls.length, forMs: greatestOf(stalls) };
}

/** The least delay of this machine that the reason of a verdict may mention, in milliseconds. */
const noticeableMs = 100;

/** What several checks add up to: they are stable once the last of them is. */
export function together(measured: readonly Measured[]): Measured {
    const sum = (of: (one: Measured) => number) => measured.reduce((total, one) => total + of(one), 0);
    const failures = measured.flatMap(({ firstFailureMs }) => firstFailureMs ?? []);
    const stable = measured.map(({ stableAfterMs }) => stableAfterMs);
    return {
        requests: sum((one) => one.requests),
        counted: sum((one) => one.counted),
        good: sum((one) => one.good),
        unseen: sum((one) => one.unseen),
        firstFailureMs: failures.length === 0 ? undefined : Math.min(...failures),
        stableAfterMs: stable.every((ms) => ms !== undefined) ? Math.max(...stable) : undefined,
    };
}

/**
 * If this machine is too late for a larger share of a check's requests, the check did not have the load that it was to
 * have, so it does not hold, even if enough answers are good.
 */
export const maxStalledShare = 0.1;

/** For how many requests this machine was too late. Empty if for none. */
export function describeStall(name: string, { counted, stalled }: Measured): string {
    if (!stalled) return "";
    const { answers, forMs } = stalled;
    const of = `${counted} ${counted === 1 ? "request" : "requests"} of the check ${name}`;
    return (
        `${answers} of ${of} ${answers === 1 ? "was" : "were"} not sent, or the answer not read, in time: the sender ` +
        `stalled for up to ${describeMilliseconds(forMs)}`
    );
}

/** For how many of the other requests this machine was late. Empty if for few: then it hardly changed the load. */
export function describeLate(name: string, { counted, late }: Measured): string {
    if (!late || late.answers <= counted * maxStalledShare) return "";
    return (
        `${late.answers} of ${counted} requests of the check ${name} were sent, or their answers read, up to ` +
        `${describeMilliseconds(late.forMs)} late, and count`
    );
}

const lostOf = ({ unseen, stalled }: Measured) => unseen - (stalled?.answers ?? 0);

/** How many requests did not reach the application, for whichever bounds are wider. Empty if none. */
export function describeLost(measured: Measured): string {
    const lost = lostOf(measured);
    const of = `${lost} of ${measured.counted} ${measured.counted === 1 ? "request" : "requests"}`;
    return lost === 0 ? "" : `${of} did not reach the application`;
}

export function describeStability(measured: Measured, underAttack?: boolean): string {
    const { firstFailureMs, stableAfterMs } = measured;
    const lost = lostOf(measured);
    if (firstFailureMs === undefined)
        return lost === 0 ? "none failed" : `none failed, but ${lost} did not see the application`;
    if (stableAfterMs === undefined) return "not stable: the last answer was bad";
    return `stable ${sinceAttack(stableAfterMs, underAttack)}`;
}
