import type { MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { collectDefaultMetrics, Histogram, Registry } from "prom-client";

/** A program's metrics, served at `/metrics`. */
export type Metrics = Registry;

/** From a fresh connection on an idle network to longer than the gateway waits, in seconds. */
export const LATENCY_BUCKETS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20];

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
