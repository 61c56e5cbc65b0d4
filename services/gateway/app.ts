import type { Hono } from "hono";
import { createApplication } from "../shared/application";
import { serveHealth } from "../shared/health";
import type { Log } from "../shared/log";
import { createMetrics } from "../shared/metrics";
import { askBackend } from "./backend";
import { type Answer, call } from "./call";
import { gatherWhole, type Backends } from "./listing";
import { isThere, type Dns } from "./names";
import { createObserver } from "./observe";
import { serveOrders } from "./orders";
import { servePage } from "./page";
import { podsLabelled } from "./podList";
import { createPatterns } from "./resilience";
import { readStatus } from "./status";

export interface GatewayArgs {
    backends: Backends;
    /** Where orders is, if the shop has orders. */
    ordersUrl: URL;
    /** How long one backend may take in all, in milliseconds. */
    upstreamTimeoutMs: number;
    /** The label of pods that an experiment attacks. */
    targetLabel: string;
    dns: Dns;
    /** Throws when the gateway can reach nothing at all; see `reachability.ts`. */
    checkReachability: () => Promise<void>;
    log: Log;
}

/**
 * The gateway: `GET /products` lists what all backends offer, or says in a problem document which one failed. Below it
 * are the same listing by patterns of resilience. `GET /` is the shop's page, and `GET /status` what it shows.
 */
export function createGateway({
    backends,
    ordersUrl,
    upstreamTimeoutMs,
    targetLabel,
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
    for (const [name, gather] of Object.entries(patterns)) {
        application.get(`/products/${name}`, async (context) => context.json(await gather(context.get("scope"))));
    }
    const failureIn = ({ status }: Answer) => (status >= 500 ? `orders answered with status ${status}.` : undefined);
    serveOrders(application, {
        orders: { name: "orders", url: ordersUrl },
        call: observe(call, failureIn),
        upstreamTimeoutMs,
    });
    const hasOrders = (timeoutMs: number) => isThere(ordersUrl, dns, timeoutMs);
    const status = { backends, ask, upstreamTimeoutMs, podsLabelled, hasOrders, targetLabel };
    application.get("/status", async (context) =>
        context.json(await readStatus(status, context.get("scope")), 200, { "Cache-Control": "no-store" }),
    );
    servePage(application);
    return application;
}
