/** Whether checks can be compared with before the attack: too few answers are refused before the run. */
import { completed } from "../kinds/checks/check-kind";
import { changeLimitsOf } from "../kinds/checks/change-limits";
import { type Check, checkKindOf, checkKinds, checkName, checkSchema } from "../kinds/checks/registry";
import { answersNeeded, type ChangeLimit } from "../values/compared";
import { describeMilliseconds, durationWithin, formatDuration, times } from "../values/duration";

/** Limits that a definition may give for all checks are for those that show how fast the application is. */
export const usualLimitsFor = (check: Check, usual: readonly ChangeLimit[] = []): readonly ChangeLimit[] =>
    checkKindOf(check).showsLatency ? usual : [];

const comparable = checkKinds.filter((kind) => checkKindOf({ kind }).showsLatency && checkKindOf({ kind }).isTrial);
const listOf = (type: "conjunction" | "disjunction") => new Intl.ListFormat("en-GB", { type }).format(comparable);

/** What a check says that its kind cannot. */
export function ownChangeMistakes(check: Check): { field: "latency" | "successRate"; message: string }[] {
    if (comparable.includes(check.kind)) return [];
    const message = `${check.kind} reads a state, which is not compared; allowed: for ${listOf("conjunction")}`;
    return [
        ...(check.latency === undefined ? [] : [{ field: "latency" as const, message }]),
        ...(typeof check.successRate === "object" ? [{ field: "successRate" as const, message }] : []),
    ];
}

/** All answers of a baseline pass through the variables of the run's steps. */
const maxAnswers = 10_000;

interface Observation {
    intervalMs: number;
    durationMs: number;
    baselineMs: number;
}

/** Why a check cannot be compared. */
export interface ChangeFault {
    /** Absent if it is about all checks. */
    check?: Check;
    reason: string;
    /** Each of these alone mends it. */
    allowed: { baselineMs?: number; durationMs?: number; intervalMs?: number };
}

const countOf = (lengthMs: number, intervalMs: number) => Math.ceil(lengthMs / intervalMs - 1e-6);

/** What checks cannot show with their defaults. Looks only at those that are valid by themselves. */
export function changeMistakes(
    checks: readonly Check[],
    { latency, ...defaults }: Observation & { latency?: readonly ChangeLimit[] },
): ChangeFault[] {
    const valid = checks.filter((check) => checkSchema.safeParse(check).success);
    if (latency && valid.length === checks.length && valid.every((check) => !checkKindOf(check).showsLatency))
        return [{ reason: `no check of the experiment is of kind ${listOf("disjunction")}`, allowed: {} }];
    const compared = valid.flatMap((check) => {
        const limits = changeLimitsOf(check, usualLimitsFor(check, latency));
        return limits ? [{ check, limits, ...completed(check, { ...defaults, successRate: 1 }) }] : [];
    });
    const faults = compared.flatMap(({ check, limits, intervalMs }): ChangeFault[] => {
        const strictest = limits.toSorted((a, b) => answersNeeded(b) - answersNeeded(a))[0]!;
        const needed = answersNeeded(strictest);
        const [before, during] = [countOf(defaults.baselineMs, intervalMs), countOf(defaults.durationMs, intervalMs)];
        const least = Math.min(before, during);
        if (least >= needed) return [];
        const [what, lengthMs, range] =
            before < needed
                ? (["baseline", defaults.baselineMs, times.baseline] as const)
                : (["window", defaults.durationMs, times.duration] as const);
        const longer = durationWithin(range, formatDuration(Math.ceil((needed * intervalMs) / 1_000) * 1_000));
        const shorter = Math.floor(Math.min(defaults.baselineMs, defaults.durationMs) / needed);
        return [
            {
                check,
                reason:
                    `to compare ${strictest.of} takes ${needed} answers before the attack and under it, and the ` +
                    `${what} has ${what === "baseline" ? before : during}: ${describeMilliseconds(lengthMs)} with ` +
                    `an interval of ${describeMilliseconds(intervalMs)}`,
                allowed: {
                    [what === "baseline" ? "baselineMs" : "durationMs"]: longer,
                    intervalMs: durationWithin(times.interval, formatDuration(shorter)),
                },
            },
        ];
    });
    const all = compared.reduce((sum, { intervalMs }) => sum + countOf(defaults.baselineMs, intervalMs), 0);
    if (all <= maxAnswers) return faults;
    const names = compared.map(({ check }) => checkName(check)).join(", ");
    return [
        ...faults,
        {
            reason: `the baseline has ${all} probes of ${names}, and ${maxAnswers} are possible`,
            allowed: { baselineMs: Math.floor((defaults.baselineMs * maxAnswers) / all / 1_000) * 1_000 },
        },
    ];
}
