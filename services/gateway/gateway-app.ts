import type { Hono } from "hono";
import * as z from "zod/mini";
import { createApplication } from "../shared/application";
import { httpUrl, milliseconds, programVariables } from "../shared/environment";
import { serveHealth } from "../shared/health";
import type { Log } from "../shared/log";
import { createMetrics } from "../shared/metrics";
import { type Answer, type Backend, call } from "./call";
import { callReader } from "./call-counts";
import { askBackend, type Backends, gatherWhole } from "./listing";
import { exists, type Dns } from "./names";
import { createObserver } from "./observe";
import { serveOrders } from "./orders-route";
import { podLister } from "./pod-list";
import { createPatterns } from "./resilience";
import { readStatus } from "./shop-status";

/**
 * The gateway's environment. In a cluster, name backends by their bare Service names: the resolver's search list
 * completes those on the first try, while longer names cost several lookups.
 */
export const gatewayEnvironment = z.object({
    ...programVariables,
    FASHION_URL: httpUrl("http://fashion-bestseller"),
    TOYS_URL: httpUrl("http://toys-bestseller"),
    HOT_DEALS_URL: httpUrl("http://hot-deals"),
    /** Does not resolve in a shop without orders. Always set, because changing the variant restarts no gateway. */
    ORDERS_URL: z.prefault(httpUrl("http://orders"), "http://orders"),
    /** Time limit of a request to one backend, connecting included. */
    UPSTREAM_TIMEOUT_MS: milliseconds(2_000),
});

interface GatewayArgs {
    backends: Backends;
    /** The address of orders; resolves only in a shop that has orders. */
    ordersUrl: URL;
    upstreamTimeoutMs: number;
    dns: Dns;
    /** Rejects when the gateway can reach nothing; see `reachability.ts`. */
    checkReachability: () => Promise<void>;
    log: Log;
}

/**
 * The gateway's API. `GET /products` lists the products of all backends, or names the failed one in a problem document.
 * `GET /products/{pattern}` does the same with a resilience pattern. `GET /status` is what the shop's page shows.
 */
export function createGateway({
    backends,
    ordersUrl,
    upstreamTimeoutMs,
    dns,
    checkReachability,
    log,
}: GatewayArgs): Hono {
    const metrics = createMetrics();
    const application = createApplication(log, metrics);
    serveHealth(application, log, checkReachability);

    const observe = createObserver(metrics);
    const ask = observe(askBackend);
    application.get("/products", async (context) =>
        context.json(await gatherWhole(backends, ask, { scope: context.get("scope"), timeoutMs: upstreamTimeoutMs })),
    );
    const patterns = createPatterns({ backends, ask, upstreamTimeoutMs, metrics, log });
    for (const [name, gather] of Object.entries(patterns))
        application.get(`/products/${name}`, async (context) => context.json(await gather(context.get("scope"))));
    const failureIn = ({ status }: Answer) => (status >= 500 ? `orders answered with status ${status}.` : undefined);
    serveOrders(application, {
        orders: { name: "orders", url: ordersUrl },
        call: observe(call, failureIn),
        upstreamTimeoutMs,
    });
    const hasOrders = (timeoutMs: number) => exists(ordersUrl, dns, timeoutMs);
    const callers = [...Object.values(backends).map(({ name }: Backend) => name), "orders"];
    const status = {
        ...{ backends, ask, upstreamTimeoutMs, hasOrders },
        listPods: podLister(),
        readCalls: callReader(metrics, callers),
    };
    application.get("/status", async (context) =>
        context.json(await readStatus(status, context.get("scope")), 200, { "Cache-Control": "no-store" }),
    );
    return application;
}
