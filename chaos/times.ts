import type { Duration } from "./duration";

/** What a length of time may be. */
export interface Range {
    least: Duration;
    most: Duration;
}

/** The times of an experiment: their ranges, and their values if nobody sets them. */
export const times = {
    /** Observation time after the grace period. */
    duration: { least: "1s", most: "1h", usual: "30s" },
    /** Answers do not count for this long after the last attack is proven. */
    grace: { least: "0s", most: "10m", usual: "15s" },
    /** Between two looks of a check. */
    interval: { least: "20ms", most: "1m", usual: "1s" },
    /** Time limit of a look. */
    timeout: { least: "100ms", most: "1m", usual: "5s" },
    /** The attacks end by themselves after this time. */
    deadline: { least: "10s", most: "24h", usual: "10m" },
} as const satisfies Record<string, Range & { usual: Duration }>;
