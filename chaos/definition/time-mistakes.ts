import { beginMsOf, cutMsOf, windowMsOf } from "../kinds/attacks/registry";
import { formatDuration } from "../values/duration";
import type { AttackDefinition } from "./definition";
import { stayingMs } from "./usual-deadline";

/**
 * The times of a run, in milliseconds, and what they depend on. Undefined: not known, and compared with nothing; or no
 * baseline.
 */
interface Times extends Partial<Record<"durationMs" | "graceMs" | "intervalMs" | "deadlineMs" | "baselineMs", number>> {
    until?: "verdict" | "disabled";
    attacks?: readonly AttackDefinition[];
}

/** A value that is valid by itself, but not with the others. */
export interface TimeFault {
    against: "duration" | "interval" | "deadline" | "actions";
    /** Why, and what is allowed. */
    reason: string;
    /** A value that is allowed instead: of the window's duration for `actions`. */
    betterMs: number;
}

/** An action, as far as its times go, in milliseconds. */
type TimedAction = { kind: string; durationMs?: number; timeoutMs?: number };

export function timeMistakes(
    { durationMs, graceMs, intervalMs, until, attacks = [], baselineMs = 0, ...times }: Times,
    actions: readonly TimedAction[] = [],
): TimeFault[] {
    const { deadlineMs = until === "disabled" ? stayingMs : undefined } = times;
    const [beginMs, cutMs] = [beginMsOf(attacks), cutMsOf(attacks)];
    const faults: TimeFault[] = [];
    if (durationMs !== undefined && intervalMs !== undefined && intervalMs > durationMs)
        faults.push({
            against: "interval",
            reason: `no check would send a request within the window; allowed: at most ${formatDuration(durationMs)}`,
            betterMs: Math.min(1_000, durationMs),
        });
    const shownMs = windowMsOf(attacks);
    if (durationMs !== undefined && durationMs < shownMs)
        faults.push({
            against: "duration",
            reason:
                `it is too short for the attacks to show, which takes ${formatDuration(shownMs)}; allowed: at least ` +
                formatDuration(shownMs),
            betterMs: shownMs,
        });
    if (durationMs === undefined || graceMs === undefined) return faults;
    const windowMs = graceMs + durationMs;
    if (windowMs < cutMs)
        faults.push({
            against: "duration",
            reason:
                `grace and duration are ${formatDuration(windowMs)} in total, too short to show that established ` +
                `connections are cut; allowed with established "cut": at least ${formatDuration(cutMs)}`,
            betterMs: 10_000,
        });
    // It begins with the attacks, and the grace period with their proof.
    const beforeMs = attacks.length === 0 ? baselineMs : 0;
    const neededMs = beforeMs + windowMs + Math.max(1_000, beginMs);
    if (deadlineMs !== undefined && deadlineMs < neededMs)
        faults.push({
            against: "deadline",
            reason:
                `it would come before the checks end; allowed: at least ${formatDuration(neededMs)}, which is ` +
                `${beforeMs > 0 ? "baseline, " : ""}grace, duration and ` +
                `${formatDuration(neededMs - windowMs - beforeMs)} until ` +
                (beginMs > 0 ? "the attacks are proven" : "the checks begin"),
            betterMs: (Math.ceil((beforeMs + windowMs) / 30_000) + 1) * 60_000,
        });
    return [...faults, ...actionFaults(actions, windowMs, graceMs)];
}

/** What actions cannot do before the checks end. The same duration mends all of it. */
function actionFaults(actions: readonly TimedAction[], windowMs: number, graceMs: number): TimeFault[] {
    const waitsMs = actions.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0);
    const longestMs = Math.max(0, ...actions.map(({ timeoutMs = 0 }) => timeoutMs));
    const reasons: string[] = [];
    if (waitsMs >= windowMs && waitsMs > 0)
        reasons.push(
            `the actions wait ${formatDuration(waitsMs)} in total, but the checks end earlier; ` +
                `allowed: a duration of more than ${formatDuration(Math.max(0, waitsMs - graceMs))}`,
        );
    if (longestMs > windowMs)
        reasons.push(
            `an action may take ${formatDuration(longestMs)}, but the checks end after ${formatDuration(windowMs)}; ` +
                `allowed: a timeoutMs of at most ${windowMs}, or a longer duration`,
        );
    const betterMs = (Math.ceil((Math.max(waitsMs, longestMs) - graceMs) / 1_000) + 1) * 1_000;
    return reasons.map((reason) => ({ against: "actions", reason, betterMs }));
}
