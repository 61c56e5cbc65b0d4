/** Why a run's answers cannot show what they must, and what mends that: for confidence and for comparisons. */
import { type Check, checkName } from "../kinds/checks/registry";
import { probesDue } from "../values/due";
import { durationWithin, formatDuration, parseDuration, times } from "../values/duration";
import { describeShare, type Share } from "../values/share";

/** How a check is asked. Times are milliseconds. */
export interface Observation {
    intervalMs: number;
    graceMs: number;
    durationMs: number;
    /** Absent if nothing is compared with before the attack. */
    baselineMs?: number;
}

/** What mends a fault, all of it together: longer times, a shorter interval, a higher success rate, a lower bound. */
export interface Mend {
    baselineMs?: number;
    durationMs?: number;
    intervalMs?: number;
    successRate?: Share;
    atLeast?: Share;
}

export interface AnswersFault {
    /** Absent if it is about all checks. */
    check?: Check;
    /** The field that it is about, if not the check as a whole. Of `baseline`, what mends it is a shorter one. */
    of?: "confidence" | "latency" | "baseline";
    reason: string;
    /** Each of these alone mends it. */
    allowed: Mend[];
    /** Which of them is the best, in words, if that matters. */
    prefer?: string;
    /** What else mends it, in words. */
    otherwise: string;
}

/** How many answers of a check count. */
export const answersIn = ({ durationMs, intervalMs, graceMs }: Observation): number =>
    probesDue(durationMs, intervalMs, graceMs);

/** How many it has before the attack. */
export const answersBefore = ({ baselineMs = 0, intervalMs }: Pick<Observation, "baselineMs" | "intervalMs">): number =>
    probesDue(baselineMs, intervalMs);

const ranges = { baselineMs: times.baseline, durationMs: times.duration, intervalMs: times.interval };
const timeKeys = Object.keys(ranges) as (keyof typeof ranges)[];
const shortestMs = parseDuration(times.interval.least)!;

/**
 * What gives a check enough answers: longer times or a shorter interval, or if neither is enough, both. None if they
 * are out of the allowed ranges.
 *
 * @param isPossible for another reason. @default all are
 */
export function mendsFor(
    needed: number,
    now: Observation,
    { perSecond }: Check,
    isPossible: (mend: Mend) => boolean = () => true,
): Mend[] {
    const lengths = { ...(now.baselineMs !== undefined && { baselineMs: now.baselineMs }), durationMs: now.durationMs };
    const keys = Object.keys(lengths) as (keyof typeof lengths)[];
    const longestMs = Math.min(...keys.map((key) => parseDuration(ranges[key].most)!));
    /** With another interval, too. */
    const longer = (intervalMs: number): Mend => {
        const [before, during] = [answersBefore({ ...now, intervalMs }), answersIn({ ...now, intervalMs })];
        const enoughMs = Math.ceil((needed * intervalMs - 1e-6) / 1_000) * 1_000;
        return {
            ...("baselineMs" in lengths && before < needed && { baselineMs: enoughMs }),
            ...(during < needed && { durationMs: enoughMs }),
        };
    };
    /** Enough with any grace period. A check's own rate is a whole number. */
    const shorter = (lengthMs: number) => {
        const intervalMs = Math.floor(lengthMs / needed);
        return perSecond === undefined ? intervalMs : 1_000 / Math.ceil(1_000 / intervalMs);
    };
    const isAllowed = (mend: Mend) => timeKeys.every((key) => isInRange(key, mend[key])) && isPossible(mend);
    const alone = [longer(now.intervalMs), { intervalMs: shorter(Math.min(...keys.map((key) => lengths[key]!))) }];
    const together = [shorter(longestMs), shortestMs].map((intervalMs) => ({ ...longer(intervalMs), intervalMs }));
    const allowed = alone.filter(isAllowed);
    return allowed.length > 0 ? allowed : together.filter(isAllowed).slice(0, 1);
}

const isInRange = (key: keyof typeof ranges, milliseconds: number | undefined) =>
    milliseconds === undefined || durationWithin(ranges[key], formatDuration(milliseconds)) !== undefined;

const either = new Intl.ListFormat("en-GB", { type: "disjunction" });
const both = new Intl.ListFormat("en-GB");

/** Why a setting for all checks has no effect. @param kinds of checks that heed it */
export const heededByNone = (of: "confidence" | "latency", kinds: readonly string[]): AnswersFault => ({
    of,
    reason: `no check of the experiment is of kind ${either.format(kinds)}`,
    allowed: [],
    otherwise: "leave it out",
});

/** Why a check may not have such a setting. @param kinds of checks that may */
export const onlyFor = (why: string, kinds: readonly string[]): string => `${why}; allowed: for ${both.format(kinds)}`;

/** What is wrong with a definition, with what mends it. */
export function describeFault({ check, of, reason, allowed, prefer, otherwise }: AnswersFault): string {
    const where = [...(check ? [checkName(check)] : []), ...(of ? [of] : [])].join(": ");
    const choices = allowed.map((mend) => {
        const [first, ...others] = mendInWords(mend, check, of);
        return [first, ...(others.length > 0 ? [others.join(" and ")] : [])].join(" with ");
    });
    const mends = choices.length > 0 ? either.format(choices) : otherwise;
    return `${where}: ${reason}; allowed: ${mends}${preferring(prefer)}`;
}

export const preferring = (prefer: string | undefined): string => (prefer === undefined ? "" : `; prefer ${prefer}`);

function mendInWords(
    { baselineMs, durationMs, intervalMs, successRate, atLeast }: Mend,
    check: Check | undefined,
    of: AnswersFault["of"],
): string[] {
    const all = [
        baselineMs &&
            (of === "baseline"
                ? `a duration of at most ${formatDuration(baselineMs)}`
                : `a baseline.duration of at least ${formatDuration(baselineMs)}`),
        durationMs && `a window.duration of at least ${formatDuration(durationMs)}`,
        intervalMs &&
            (check?.perSecond === undefined
                ? `an interval of at most ${formatDuration(intervalMs)}`
                : `a perSecond of at least ${Math.round(1_000 / intervalMs)}`),
        successRate && `a successRate of at least ${describeShare(successRate)}`,
        atLeast && `an atLeast of at most ${describeShare(atLeast)}`,
    ];
    return all.filter((one) => typeof one === "string");
}
