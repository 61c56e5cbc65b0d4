/** Whether checks can be compared with before the attack: too few answers are refused before the run. */
import { completed } from "../kinds/checks/check-kind";
import { changeLimitsOf } from "../kinds/checks/change-limits";
import { type Check, checkKindOf, checkKinds, checkName, checkSchema } from "../kinds/checks/registry";
import { answersNeeded, type ChangeLimit } from "../values/compared";
import { describeMilliseconds, durationWithin, formatDuration, parseDuration, times } from "../values/duration";
import {
    type AnswersFault,
    answersBefore,
    answersIn,
    heededByNone,
    type Mend,
    mendsFor,
    type Observation,
    onlyFor,
} from "./answers-fault";

/** Limits that a definition may give for all checks are for those that show how fast the application is. */
export const usualLimitsFor = ({ kind }: Check, usual: readonly ChangeLimit[] = []): readonly ChangeLimit[] =>
    comparable.includes(kind) ? usual : [];

const comparable = checkKinds.filter((kind) => checkKindOf({ kind }).showsLatency && checkKindOf({ kind }).isTrial);

/** What a check says that its kind cannot. */
export function ownChangeMistakes(check: Check): { field: "latency" | "successRate"; message: string }[] {
    if (comparable.includes(check.kind)) return [];
    const message = onlyFor(`${check.kind} reads a state, which is not compared`, comparable);
    return [
        ...(check.latency === undefined ? [] : [{ field: "latency" as const, message }]),
        ...(typeof check.successRate === "object" ? [{ field: "successRate" as const, message }] : []),
    ];
}

/** All answers of a baseline pass through the variables of the run's steps. */
const maxAnswers = 10_000;

type WithBaseline = Observation & { baselineMs: number };

/** The longest baseline that a run with these compared checks may have, in whole seconds. */
export function longestBaselineMs(checks: readonly { intervalMs: number }[]): number {
    const longestMs = parseDuration(times.baseline.most)!;
    const perMs = checks.reduce((sum, { intervalMs }) => sum + 1 / intervalMs, 0);
    return Math.min(longestMs, Math.floor(maxAnswers / perMs / 1_000 + 1e-6) * 1_000);
}

/** A check that is compared, with the limit that takes the most answers. */
interface ComparedCheck {
    check: Check;
    strictest: ChangeLimit;
    needed: number;
    intervalMs: number;
}

/** How many answers the baseline has. */
const sumOf = (compared: readonly ComparedCheck[], { baselineMs }: { baselineMs: number }) =>
    compared.reduce((sum, { intervalMs }) => sum + answersBefore({ baselineMs, intervalMs }), 0);

/** What checks cannot show with their defaults. Looks only at those that are valid by themselves. */
export function changeMistakes(
    checks: readonly Check[],
    { latency, ...defaults }: WithBaseline & { latency?: readonly ChangeLimit[] },
): AnswersFault[] {
    const valid = checks.filter((check) => checkSchema.safeParse(check).success);
    if (latency && valid.length === checks.length && valid.every(({ kind }) => !comparable.includes(kind)))
        return [heededByNone("latency", comparable)];
    const compared = valid
        .flatMap((check): ComparedCheck[] => {
            const limits = changeLimitsOf(check, usualLimitsFor(check, latency));
            if (limits === undefined) return [];
            const strictest = limits.toSorted((a, b) => answersNeeded(b) - answersNeeded(a))[0]!;
            const { intervalMs } = completed(check, { ...defaults, successRate: 1 });
            return [{ check, strictest, needed: answersNeeded(strictest), intervalMs }];
        })
        // What mends the first mends the others, if they have the same interval.
        .sort((a, b) => b.needed * b.intervalMs - a.needed * a.intervalMs);
    const faults = compared.flatMap((one) => tooFewAnswers(one, compared, defaults));
    const tooMany = tooManyAnswers(compared, defaults);
    return tooMany === undefined ? faults : [...faults, tooMany];
}

function tooFewAnswers(one: ComparedCheck, compared: readonly ComparedCheck[], now: WithBaseline): AnswersFault[] {
    const { check, strictest, needed, intervalMs } = one;
    const asked = { ...now, intervalMs };
    const [before, during] = [answersBefore(asked), answersIn(asked)];
    if (Math.min(before, during) >= needed) return [];
    const [what, lengthMs] =
        before < needed ? (["baseline", now.baselineMs] as const) : (["window", now.durationMs] as const);
    const withInterval = (intervalMs: number): ComparedCheck[] =>
        check.perSecond === undefined
            ? compared.map((other) => (other.check.perSecond === undefined ? { ...other, intervalMs } : other))
            : compared.map((other) => (other === one ? { ...other, intervalMs } : other));
    const mostAnswers = Math.max(maxAnswers, sumOf(compared, now));
    const fits = ({ intervalMs, baselineMs = now.baselineMs }: Mend) =>
        sumOf(intervalMs === undefined ? compared : withInterval(intervalMs), { baselineMs }) <= mostAnswers;
    return [
        {
            check,
            reason:
                `to compare ${strictest.of} takes ${needed} answers before the attack and under it, and the ` +
                `${what} has ${what === "baseline" ? before : during}, in ${describeMilliseconds(lengthMs)} with ` +
                `an interval of ${describeMilliseconds(intervalMs)}`,
            allowed: mendsFor(needed, asked, check, fits),
            otherwise: `a limit that takes fewer answers, or fewer checks with one (all have ${maxAnswers} answers)`,
        },
    ];
}

function tooManyAnswers(compared: readonly ComparedCheck[], now: WithBaseline): AnswersFault | undefined {
    const all = sumOf(compared, now);
    if (all <= maxAnswers) return undefined;
    const names = compared.map(({ check }) => checkName(check)).join(", ");
    const baselineMs = longestBaselineMs(compared);
    const areEnough =
        durationWithin(times.baseline, formatDuration(baselineMs)) !== undefined &&
        compared.every(({ needed, intervalMs }) => answersBefore({ baselineMs, intervalMs }) >= needed);
    return {
        of: "baseline",
        reason: `the baseline has ${all} probes of ${names}, and ${maxAnswers} are possible`,
        allowed: areEnough ? [{ baselineMs }] : [],
        otherwise: "fewer probes per second, limits that take fewer answers, or fewer checks with limits",
    };
}
