/** Whether the answers of a check can show what they must: a window with too few of them is refused before the run. */
import { completed } from "../kinds/checks/check-kind";
import { confidenceOf, writtenConfidence } from "../kinds/checks/confidence";
import { type Check, checkKindOf, checkKinds, checkSchema } from "../kinds/checks/registry";
import { answersFor, type Confidence, lowerBound } from "../values/bound";
import { describeMilliseconds, durationWithin, formatDuration, parseDuration, times } from "../values/duration";
import { describeShare, parsePercentage, percentOf, type Share } from "../values/share";

/** @param usual for a check that sets none. @returns undefined if nothing is required, or the check reads a state */
export function requiredConfidence(check: Check, usual?: Confidence): Confidence | undefined {
    if (check.confidence !== undefined) return confidenceOf(check.confidence);
    return checkKindOf(check).isTrial && usual;
}

const trialKinds = checkKinds.filter((kind) => checkKindOf({ kind }).isTrial);
const listOf = (type: "conjunction" | "disjunction") => new Intl.ListFormat("en-GB", { type }).format(trialKinds);

/** Why a check cannot show what it must. */
interface Fault {
    reason: string;
    /** Each of these alone mends it. `together` is there if neither a window nor an interval does that alone. */
    allowed: { successRate?: Share; durationMs?: number; intervalMs?: number; atLeast?: Share; together?: Together };
}

/** Mends it only with all of these. */
interface Together {
    durationMs: number;
    intervalMs: number;
    atLeast?: Share;
}

interface Observation {
    successRate: Share;
    intervalMs: number;
    durationMs: number;
}

function faultsIn(confidence: Confidence, { successRate, intervalMs, durationMs }: Observation): Fault[] {
    const { atLeast, level } = writtenConfidence(confidence);
    const faults: Fault[] = [];
    if (confidence.atLeast > successRate) {
        const required = describeShare(successRate);
        const reason = `a run that passes with ${required}, the required success rate, may not show ${atLeast}`;
        faults.push({ reason, allowed: { successRate: confidence.atLeast, atLeast: successRate } });
    }
    const needed = answersFor(confidence);
    // An interval such as 1000/3 ms is not exact.
    const sent = Math.floor(durationMs / intervalMs + 1e-6);
    if (needed <= sent) return faults;
    const longer = formatDuration(Math.ceil((needed * intervalMs - 1e-6) / 1_000) * 1_000);
    const alone = {
        durationMs: durationWithin(times.duration, longer),
        intervalMs: shorterWithin(durationMs, needed),
        atLeast: shownBy(sent, confidence.level),
    };
    const isNeitherEnough = alone.durationMs === undefined && alone.intervalMs === undefined;
    faults.push({
        reason:
            `to show ${atLeast} with ${level} confidence takes ${needed} good answers, and the window has ${sent}: ` +
            `${describeMilliseconds(durationMs)} with an interval of ${describeMilliseconds(intervalMs)}`,
        allowed: { ...alone, together: isNeitherEnough ? togetherFor(needed, sent, confidence.level) : undefined },
    });
    return faults;
}

const longestMs = parseDuration(times.duration.most)!;
const shortestMs = parseDuration(times.interval.least)!;

/** The longest interval with which a window has so many answers. Undefined if it is too short. */
const shorterWithin = (durationMs: number, answers: number) =>
    durationWithin(times.interval, formatDuration(Math.floor(durationMs / answers)));

/** What so many good answers show, rounded down. Undefined if that reads as nothing. */
const shownBy = (answers: number, level: Share) =>
    answers === 0 ? undefined : parsePercentage(percentOf(lowerBound(answers, answers, level), 1));

/** @param sent if there are some, what these show can be required */
function togetherFor(needed: number, sent: number, level: Share): Together | undefined {
    const intervalMs = shorterWithin(longestMs, needed);
    if (intervalMs !== undefined) return { durationMs: longestMs, intervalMs };
    if (sent > 0) return undefined;
    return { durationMs: longestMs, intervalMs: shortestMs, atLeast: shownBy(longestMs / shortestMs, level) };
}

/** What a check cannot show with any settings: in the longest window, and if it may, at the shortest interval. */
export function ownConfidenceMistakes(check: Check): string[] {
    const { confidence } = check;
    if (confidence === undefined) return [];
    if (!checkKindOf(check).isTrial)
        return [
            `${check.kind} reads a state, and reading it more often shows no more; ` +
                `allowed: for ${listOf("conjunction")}`,
        ];
    const best = { durationMs: longestMs, ...completed(check, { intervalMs: shortestMs, successRate: 1 }) };
    return faultsIn(confidenceOf(confidence), best).map(
        ({ reason, allowed: { atLeast } }) => `${reason}; allowed: an atLeast of at most ${describeShare(atLeast!)}`,
    );
}

/** What checks cannot show with their defaults. Compares only those that are valid by themselves. */
export function confidenceMistakes(
    checks: readonly Check[],
    { confidence: usual, ...defaults }: Observation & { confidence?: Confidence },
): (Fault & { check?: Check })[] {
    const valid = checks.filter((check) => checkSchema.safeParse(check).success);
    if (usual && valid.length === checks.length && valid.every((check) => !requiredConfidence(check, usual)))
        return [{ reason: `no check of the experiment is of kind ${listOf("disjunction")}`, allowed: {} }];
    return valid.flatMap((check) => {
        const confidence = requiredConfidence(check, usual);
        const faults = confidence ? faultsIn(confidence, { ...defaults, ...completed(check, defaults) }) : [];
        return faults.map((fault) => ({ check, ...fault }));
    });
}
