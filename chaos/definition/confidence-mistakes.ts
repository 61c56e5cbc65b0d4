/** Whether the answers of a check can show what they must: a window with too few of them is refused before the run. */
import { completed } from "../kinds/checks/check-kind";
import { confidenceOf, writtenConfidence } from "../kinds/checks/confidence";
import { type Check, checkKindOf, checkKinds, checkSchema } from "../kinds/checks/registry";
import { answersFor, type Confidence, lowerBound } from "../values/bound";
import { describeMilliseconds, parseDuration, times } from "../values/duration";
import { describeShare, parsePercentage, percentOf, type Share } from "../values/share";
import {
    type AnswersFault,
    answersIn,
    heededByNone,
    type Mend,
    mendsFor,
    type Observation,
    onlyFor,
} from "./answers-fault";

/** @param usual for a check that sets none. @returns undefined if nothing is required, or the check reads a state */
export function requiredConfidence(check: Check, usual?: Confidence): Confidence | undefined {
    if (check.confidence !== undefined) return confidenceOf(check.confidence);
    return checkKindOf(check).isTrial && usual;
}

const trialKinds = checkKinds.filter((kind) => checkKindOf({ kind }).isTrial);

interface Promised extends Observation {
    successRate: Share;
}

function faultsIn(check: Check, confidence: Confidence, promised: Promised): AnswersFault[] {
    const { atLeast, level } = writtenConfidence(confidence);
    const { successRate, durationMs, intervalMs, graceMs } = promised;
    const asked = { intervalMs, graceMs, durationMs };
    const fault = { check, of: "confidence", otherwise: "leave it out" } as const;
    const faults: AnswersFault[] = [];
    if (confidence.atLeast > successRate) {
        const required = describeShare(successRate);
        const reason = `a run that passes with ${required}, the required success rate, may not show ${atLeast}`;
        faults.push({ ...fault, reason, allowed: [{ atLeast: successRate }, { successRate: confidence.atLeast }] });
    }
    const [needed, sent] = [answersFor(confidence), answersIn(asked)];
    if (needed <= sent) return faults;
    const mends = mendsFor(needed, asked, check);
    const reason =
        `to show ${atLeast} with ${level} confidence takes ${needed} good answers, and the ` +
        `${durationMs < longestMs ? "" : "longest "}window has ${sent}, in ${describeMilliseconds(durationMs)} with ` +
        `an interval of ${describeMilliseconds(intervalMs)}`;
    const lower = lowerMend(sent, confidence.level, mends.length === 0);
    const isThereLonger = mends.length > 1;
    const prefer = isThereLonger ? "the longer window: it sees outages that a shorter interval does not" : undefined;
    return [...faults, { ...fault, reason, allowed: [...mends, ...lower], prefer }];
}

const longestMs = parseDuration(times.duration.most)!;
const shortestMs = parseDuration(times.interval.least)!;

/** What can be shown instead: by the answers that there are, or without any, by as many as possible if need be. */
function lowerMend(answers: number, level: Share, isLast: boolean): Mend[] {
    const mostTimes = { durationMs: longestMs, intervalMs: shortestMs };
    const [mend, number] = answers > 0 ? [{}, answers] : [mostTimes, answersIn({ ...mostTimes, graceMs: 0 })];
    // Rounded down, it may read as nothing.
    const atLeast = parsePercentage(percentOf(lowerBound(number, number, level), 1));
    return atLeast && (answers > 0 || isLast) ? [{ ...mend, atLeast }] : [];
}

/** What a check cannot show with any settings: in the longest window, and if it may, at the shortest interval. */
export function ownConfidenceMistakes(check: Check): string[] {
    const { confidence } = check;
    if (confidence === undefined) return [];
    if (!checkKindOf(check).isTrial)
        return [onlyFor(`${check.kind} reads a state, and reading it more often shows no more`, trialKinds)];
    const rated = completed(check, { intervalMs: shortestMs, successRate: 1 });
    const faults = faultsIn(check, confidenceOf(confidence), { durationMs: longestMs, graceMs: 0, ...rated });
    return faults.map(({ reason, allowed }) => {
        const lower = allowed.find(({ atLeast }) => atLeast !== undefined)!.atLeast!;
        return `${reason}; allowed: an atLeast of at most ${describeShare(lower)}`;
    });
}

/** What checks cannot show with their defaults. Compares only those that are valid by themselves. */
export function confidenceMistakes(
    checks: readonly Check[],
    { confidence: usual, ...defaults }: Promised & { confidence?: Confidence },
): AnswersFault[] {
    const valid = checks.filter((check) => checkSchema.safeParse(check).success);
    if (usual && valid.length === checks.length && valid.every((check) => !requiredConfidence(check, usual)))
        return [heededByNone("confidence", trialKinds)];
    return valid.flatMap((check) => {
        const confidence = requiredConfidence(check, usual);
        return confidence ? faultsIn(check, confidence, { ...defaults, ...completed(check, defaults) }) : [];
    });
}
