import { Histogram } from "prom-client";
import { LATENCY_BUCKETS, type Metrics } from "./metrics";

export const callsMetric = "upstream_request_duration_seconds";

/** The duration of a program's calls to other workloads, by outcome: `ok`, or the kind of failure. */
export const callDurations = (metrics: Metrics) =>
    new Histogram({
        name: callsMetric,
        help: "Duration of calls to backends, by outcome",
        labelNames: ["backend", "outcome"] as const,
        buckets: LATENCY_BUCKETS,
        registers: [metrics],
    });

/** Makes a call and counts it. */
export type Measure = <Result>(backend: string, call: () => Promise<Result>) => Promise<Result>;

/** Counts a program's calls to the database and the broker, its checks of them included. */
export function measureCalls(metrics: Metrics): Measure {
    const duration = callDurations(metrics);
    return async (backend, call) => {
        const begun = performance.now();
        const note = (outcome: "ok" | "failed") =>
            duration.observe({ backend, outcome }, (performance.now() - begun) / 1000);
        try {
            const result = await call();
            note("ok");
            return result;
        } catch (error) {
            note("failed");
            throw error;
        }
    };
}
