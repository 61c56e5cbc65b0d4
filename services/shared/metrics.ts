import type { MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { type Log, reasonOf } from "./log";
import { within } from "./time";

/** The metrics of one program, as `/metrics` shows them. */
export type Metrics = Registry;

/** From what a fresh connection on a quiet network takes to more than the gateway's patience, in seconds. */
export const LATENCY_BUCKETS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20];

/** How long a value that must be asked for may take, in milliseconds: well below Prometheus's 10 s for a whole scrape. */
const SCRAPE_TIMEOUT_MS = 2_000;

/** How often the event loop's lag is looked at, in milliseconds. By default each 10, which is half of what an idle program does. */
const LOOP_SAMPLE_MS = 100;

/** The metrics of a program: at first those of its process (CPU, memory, event loop). */
export function createMetrics(): Metrics {
    const metrics = new Registry();
    collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: LOOP_SAMPLE_MS });
    return metrics;
}

/**
 * Measures each request: `http_request_duration_seconds` by method, route and status; its `_count` counts them. Routes,
 * not paths, since whoever asks for made-up paths would make a time series of each.
 */
export function measureRequests(metrics: Metrics): MiddlewareHandler {
    const duration = new Histogram({
        name: "http_request_duration_seconds",
        help: "How long requests took to be answered",
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
    /** What is counted, in a sentence. */
    help: string;
    /** The label that tells the counts apart, for example `state`. */
    label: string;
    /** Gives the counts now; asked at each scrape. */
    read: () => Promise<Record<string, number>> | Record<string, number>;
    log: Log;
}

/**
 * A gauge of counts that are kept elsewhere, for example in the database, and asked for at each scrape. Where they
 * cannot be had, or not within 2 s, the metric is left out, and the scrape goes on without it.
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
                log.warn({ metric: name, cause: reasonOf(error) }, "a metric could not be read");
            }
        },
    });
}
