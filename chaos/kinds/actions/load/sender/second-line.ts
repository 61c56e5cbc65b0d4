/**
 * A line of the log, as JSON: what became of the requests that were due in one second. It is written when the second is
 * over and the last of them has its answer, or its time is up.
 */
export interface SecondLine {
    /** Number of the second, from 0. None is left out. */
    second: number;
    /** When it began, and when the line was written, in milliseconds since the epoch. */
    at: number;
    written: number;
    due: number;
    /** Requests that were sent within `onTimeMs`. */
    sent: number;
    /** Those that were not, since all connections waited for answers. The sender was too late for the others. */
    busy: number;
    /** Those that the sender's machine did not send, by why, such as `ENOTFOUND`. */
    unsent: Record<string, number>;
    good: number;
    /** The bad answers, by what was wrong with them. */
    bad: Record<string, number>;
    /** Those that the sender may have missed because it did not run: neither good nor bad. */
    unseen: number;
    /** For each of `limitsMs`: good answers within it, and those that were only without the sender's own delay. */
    within: [surely: number, perhaps: number][];
    /** Good answers by latency: see `bucketOf`. */
    latencies: [bucket: number, answers: number][];
}

/** The buckets of latencies grow by 5%, from 0.1 ms. */
const [growth, leastMs] = [1.05, 0.1];

/** The bucket of a latency in milliseconds. Some 300 hold all up to 5 min, so a line is short. */
export const bucketOf = (ms: number): number =>
    ms <= leastMs ? 0 : Math.ceil(Math.log(ms / leastMs) / Math.log(growth));

/** The greatest latency of a bucket, in milliseconds. */
export const mostOf = (bucket: number): number => leastMs * growth ** bucket;
