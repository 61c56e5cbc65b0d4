/** A length of time as written in configuration: `500ms`, `30s`, `10m`, `1h`, or several parts as in Go: `5m0s`. */
export type Duration = string;

const millisecondsPerUnit: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const form = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;

/** In whole milliseconds. Undefined if the text is not a duration. */
export function parseDuration(text: Duration): number | undefined {
    const milliseconds = unroundedDuration(text);
    // Timers take whole numbers only, and 2.01 * 1000 is none.
    return milliseconds && Math.round(milliseconds);
}

/** In milliseconds. Undefined if the text is not a duration. */
export function unroundedDuration(text: Duration): number | undefined {
    // A definition may have another type here, and a list of one duration would match the pattern.
    if (typeof text !== "string" || !form.test(text)) return undefined;
    let milliseconds = 0;
    for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g))
        milliseconds += Number(amount) * millisecondsPerUnit[unit!]!;
    return milliseconds;
}

/** In the largest unit that gives a whole number, as configuration takes it: `10m`, `90s`, `1500ms`. */
export function formatDuration(milliseconds: number): Duration {
    const [unit, size] = Object.entries(millisecondsPerUnit).findLast(
        ([, size]) => milliseconds >= size && milliseconds % size === 0,
    ) ?? ["ms", 1];
    return `${milliseconds / size}${unit}`;
}

/** Such as `850 ms`, `2.4 s` or `3 min 20 s`. */
export function describeMilliseconds(milliseconds: number): string {
    if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
    if (milliseconds < 60_000) return `${Number((milliseconds / 1_000).toFixed(1))} s`;
    const seconds = Math.round(milliseconds / 1_000);
    const rest = seconds % 60;
    return rest === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${rest} s`;
}

/** Without rounding: `850 ms`, `2.434 s` or `3 min 20.5 s`. */
export function describeExactly(milliseconds: number): string {
    if (milliseconds < 1_000) return `${milliseconds} ms`;
    const [minutes, rest] = [Math.floor(milliseconds / 60_000), (milliseconds % 60_000) / 1_000];
    return [...(minutes > 0 ? [`${minutes} min`] : []), ...(rest > 0 ? [`${rest} s`] : [])].join(" ");
}

/** Such as `41 days`, `1 hour` or `0 minutes`: how long ago something was, rounded down. */
export function describeAge(milliseconds: number): string {
    const units = { day: 86_400_000, hour: 3_600_000, minute: 60_000 };
    const [unit, size] = Object.entries(units).find(([, size]) => milliseconds >= size) ?? ["minute", units.minute];
    // The clock may have been set back meanwhile.
    const count = Math.max(0, Math.floor(milliseconds / size));
    return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

export interface Range {
    least: Duration;
    most: Duration;
}

/** @param examples completes "such as …". @default some that every range of `times` has */
export const allowedDuration = ({ least, most }: Range, examples = "30s or 1m") =>
    `a duration from ${least} to ${most}, such as ${examples}`;

/** In milliseconds. Undefined if the text is not a duration, or outside of the range. */
export function durationWithin({ least, most }: Range, text: Duration): number | undefined {
    const milliseconds = parseDuration(text) ?? -1;
    return milliseconds >= parseDuration(least)! && milliseconds <= parseDuration(most)! ? milliseconds : undefined;
}

/** The times of an experiment: their ranges and defaults. */
export const times = {
    /** Observation time after the grace period. */
    duration: { least: "1s", most: "1h", usual: "30s" },
    /** Answers do not count for this long after the last attack is proven. */
    grace: { least: "0s", most: "10m", usual: "15s" },
    /** Before the attack, for checks that are compared with that. */
    baseline: { least: "1s", most: "10m", usual: "30s" },
    /** Between two probes of a check. */
    interval: { least: "20ms", most: "1m", usual: "1s" },
    /** Time limit of a probe. */
    timeout: { least: "100ms", most: "1m", usual: "5s" },
    /** How long a run waits for what begins it. */
    begin: { least: "1s", most: "1h", usual: "5m" },
    /** The attacks end by themselves after this time; see `usualDeadlineMs` for those that end with the verdict. */
    deadline: { least: "10s", most: "24h", usual: "10m" },
} as const satisfies Record<string, Range & { usual: Duration }>;
