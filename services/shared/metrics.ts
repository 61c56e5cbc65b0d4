import type { MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { type Log, reasonOf } from "./log";
import { within } from "./time";

/** A program's metrics, served at `/metrics`. */
export type Metrics = Registry;

/** From a fresh connection on an idle network to longer than the gateway waits, in seconds. */
export const LATENCY_BUCKETS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20];

/** Time limit for reading a value, in milliseconds: well below Prometheus's 10 s for a whole scrape. */
const SCRAPE_TIMEOUT_MS = 2_000;

/** Sampling interval of the event loop's lag, in milliseconds. The default, 10, is half of an idle program's work. */
const LOOP_SAMPLE_MS = 100;

/** A registry with the metrics of the process: CPU, memory, event loop. */
export function createMetrics(): Metrics {
    const metrics = new Registry();
    collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: LOOP_SAMPLE_MS });
    return metrics;
}

/**
 * Measures requests: `http_request_duration_seconds` by method, route and status. The label is the route, not the path:
 * each made-up path would create a time series.
 */
export function measureRequests(metrics: Metrics): MiddlewareHandler {
    const duration = new Histogram({
        name: "http_request_duration_seconds",
        help: "Duration of requests",
        labelNames: ["method", "route", "status"],
        buckets: LATENCY_BUCKETS,
        registers: [metrics],
    });
    return async (context, next) => {
        const begun = performance.now();
        await next();
        const route = matchedRoutes(context).findLast(({ path }) => path !== "/*")?.path ?? "none";
        const labels = { method: context.req.method, route, status: context.res.status };
        duration.observe(labels, (performance.now() - begun) / 1000);
    };
}

export interface CountsArgs {
    /** Name of the metric, for example `orders`. */
    name: string;
    help: string;
    /** Label of the counts, for example `state`. */
    label: string;
    /** Reads the counts; called at each scrape. */
    read: () => Promise<Record<string, number>> | Record<string, number>;
    log: Log;
}

/**
 * A gauge of counts that are kept elsewhere, for example in the database, and read at each scrape. A scrape omits the
 * metric if the counts cannot be read within 2 s.
 */
export function gaugeCounts(metrics: Metrics, { name, help, label, read, log }: CountsArgs): void {
    new Gauge({
        name,
        help,
        labelNames: [label],
        registers: [metrics],
        async collect() {
            this.reset();
            try {
                const counts = await within(SCRAPE_TIMEOUT_MS, Promise.resolve(read()));
                Object.entries(counts).forEach(([value, count]) => this.set({ [label]: value }, count));
            } catch (error) {
                log.warn({ metric: name, cause: reasonOf(error) }, "could not read a metric");
            }
        },
    });
}
