/**
 * What others agree on with the program that sends a load: its environment, and the lines of its log.
 *
 * The load is an open loop: a request is due at a fixed time, even while earlier answers are missing. One that cannot
 * be sent within `onTimeMs` is not sent at all: later, in a burst, it would be another load. Latencies count from when
 * a request was due, so an application that is slow to take requests does not look fast ("coordinated omission").
 */

/**
 * A request that is sent so long after it was due is on time, in milliseconds: a container that has used its CPU limit
 * goes on after 100 ms at the latest.
 */
export const onTimeMs = 100;

/** A request without an answer may be ended so much later for the sender's own delay, in milliseconds. */
export const endsLateMs = 1_000;

/** After SIGTERM the load goes on for so long, in milliseconds: the application recovers under it. */
export const lingersMs = 3_000;

export interface SenderEnvironment {
    /** `SenderSettings` as JSON. */
    LOAD: string;
    /** What is in Secrets and ConfigMaps, by the names that `SenderSettings` has. */
    [secret: `SECRET_${number}`]: string;
}

/** A value from a Secret or a ConfigMap: the variable of the environment that has it, and text before it. */
export interface FromVariable {
    variable: `SECRET_${number}`;
    prefix?: string;
}

export interface SenderSettings {
    /** Where requests are sent: `http://10.96.0.12:8080`. */
    origin: string;
    /** Path and query. */
    path: string;
    method: string;
    /** `{uuid}` in a value is replaced by a new UUID. */
    headers: Record<string, string>;
    body?: Record<string, unknown>;
    headersFrom: Record<string, FromVariable>;
    queryFrom: Record<string, FromVariable>;
    /** With the keys that lead to each field of the body. */
    bodyFrom: ({ keys: readonly string[] } & FromVariable)[];
    /** Certificates in PEM. @default the CAs that Node.js trusts */
    ca?: string;
    caFrom?: FromVariable;
    serverName?: string;
    perSecond: number;
    /** How many requests wait for an answer at a time, at most, each over a connection of its own. */
    connections: number;
    timeoutMs: number;
    /** The least and the greatest good status. */
    status: readonly [least: number, most: number];
    /** Latencies of which it is counted exactly how many answers are within them, in milliseconds. */
    limitsMs: readonly number[];
}

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
