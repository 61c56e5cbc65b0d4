import { formatDuration } from "../duration";

/** The times of a run, in milliseconds. Undefined: not known, and compared with nothing. */
export interface Times {
    durationMs?: number;
    graceMs?: number;
    intervalMs?: number;
    deadlineMs?: number;
}

/** A value that is valid by itself, but not with the others. */
export interface TimeFault {
    against: "interval" | "deadline" | "actions";
    /** Why, and what is allowed. */
    reason: string;
    /** A value that is allowed instead: of the window's duration for `actions`. */
    betterMs: number;
}

/** What contradicts what among a run's times. */
export function timeFaults(
    { durationMs, graceMs, intervalMs, deadlineMs }: Times,
    actions: readonly { kind: string; durationMs?: number }[] = [],
): TimeFault[] {
    const faults: TimeFault[] = [];
    if (durationMs !== undefined && intervalMs !== undefined && intervalMs > durationMs)
        faults.push({
            against: "interval",
            reason: `no check would look within the window; allowed: at most ${formatDuration(durationMs)}`,
            betterMs: Math.min(1_000, durationMs),
        });
    if (durationMs === undefined || graceMs === undefined) return faults;
    const windowMs = graceMs + durationMs;
    if (deadlineMs !== undefined && windowMs >= deadlineMs)
        faults.push({
            against: "deadline",
            reason:
                "the attacks would end before the checks do; " +
                `allowed: more than grace and duration together, ${formatDuration(windowMs)}`,
            betterMs: (Math.ceil(windowMs / 30_000) + 1) * 60_000,
        });
    const waitsMs = actions.reduce((sum, { kind, durationMs: ms = 0 }) => sum + (kind === "wait" ? ms : 0), 0);
    if (waitsMs >= windowMs && waitsMs > 0)
        faults.push({
            against: "actions",
            reason:
                `the actions wait ${formatDuration(waitsMs)} in total, but the checks end earlier; ` +
                `allowed: a duration of more than ${formatDuration(Math.max(0, waitsMs - graceMs))}`,
            betterMs: (Math.ceil((waitsMs - graceMs) / 1_000) + 1) * 1_000,
        });
    return faults;
}
