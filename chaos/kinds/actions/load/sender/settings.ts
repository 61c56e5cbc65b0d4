/**
 * What the program that sends a load is told by its environment.
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
    /** `SenderSettings` as JSON. Absent if k6 sends, and the program only counts. */
    LOAD?: string;
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
