import type { Hono } from "hono";
import pino from "pino";
import { onTestFinished } from "vitest";
import { createGateway } from "../../../../services/gateway/gateway-app";
import { createReachability } from "../../../../services/gateway/reachability";
import { answeringJson, list, type Peer } from "../../../services/support/backends";

/** The gateway's timeout for a backend in these tests, in milliseconds. */
export const TIMEOUT_MS = 2_000;

/** A gateway as an application object. Backends are healthy unless given; they close after the test. */
export async function openGateway(
    peers: { fashion?: Peer; toys?: Peer; hotDeals?: Peer } = {},
    ordersUrl = "http://127.0.0.1:1",
) {
    const fashion = peers.fashion ?? (await answeringJson(list("FASHION")));
    const toys = peers.toys ?? (await answeringJson(list("TOYS")));
    const hotDeals = peers.hotDeals ?? (await answeringJson(list("HOT_DEALS")));
    onTestFinished(() => [fashion, toys, hotDeals].forEach((peer) => peer.close()));
    const backends = {
        fashion: { name: "fashion-bestseller", url: new URL(fashion.url) },
        toys: { name: "toys-bestseller", url: new URL(toys.url) },
        hotDeals: { name: "hot-deals", url: new URL(hotDeals.url) },
    };
    const log: Record<string, unknown>[] = [];
    const dns = {};
    const gateway = createGateway({
        backends,
        ordersUrl: new URL(ordersUrl),
        upstreamTimeoutMs: TIMEOUT_MS,
        dns,
        checkReachability: createReachability(
            Object.values(backends).map(({ url }) => url),
            dns,
        ),
        log: pino({ level: "trace" }, { write: (line) => void log.push(JSON.parse(line) as Record<string, unknown>) }),
    });
    return { gateway, log, fashion, toys, hotDeals };
}

/** Sends a request and reads the whole response. */
export async function ask(gateway: Hono, path = "/products", init?: RequestInit) {
    const response = await gateway.request(path, init);
    const text = await response.text();
    return {
        status: response.status,
        type: response.headers.get("content-type"),
        headers: response.headers,
        text,
        body: text.startsWith("{") ? JSON.parse(text) : undefined,
    };
}
