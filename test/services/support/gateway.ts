import { afterEach, beforeAll } from "vitest";
import { answeringJson, type Peer } from "./backends";
import { bundle, startProgram, type RunningProgram } from "./programs";

/** How long the gateway waits for a backend in these tests, in milliseconds. */
export const TIMEOUT_MS = 600;

export const product = (category: string) => ({
    id: "1cb000fc-4a11-4fd3-a30d-65e5eccf7d56",
    name: "A thing",
    category,
});
export const list = (category: string) => ({ responseType: "REMOTE_SERVICE", products: [product(category)] });

let running: { close(): void }[] = [];
beforeAll(() => void bundle("gateway"));
afterEach(() => {
    running.forEach((each) => each.close());
    running = [];
});

/** Starts a gateway before healthy backends, but for those given; all of them end with the test. @param more of its environment */
export async function startGateway(
    peers: { fashion?: Peer; toys?: Peer; hotDeals?: Peer } = {},
    more: Record<string, string> = {},
) {
    const fashion = peers.fashion ?? (await answeringJson(list("FASHION")));
    const toys = peers.toys ?? (await answeringJson(list("TOYS")));
    const hotDeals = peers.hotDeals ?? (await answeringJson(list("HOT_DEALS")));
    const gateway = await startProgram("gateway", {
        FASHION_URL: fashion.url,
        TOYS_URL: toys.url,
        HOT_DEALS_URL: hotDeals.url,
        UPSTREAM_TIMEOUT_MS: String(TIMEOUT_MS),
        ...more,
    });
    running.push(fashion, toys, hotDeals, { close: gateway.kill });
    return { gateway, fashion, toys, hotDeals };
}

/** Asks the gateway and reads the answer to its end. */
export async function ask(gateway: RunningProgram, path = "/products", method = "GET") {
    const start = performance.now();
    const response = await fetch(gateway.url + path, { method });
    const text = await response.text();
    return {
        status: response.status,
        type: response.headers.get("content-type"),
        headers: response.headers,
        text,
        body: text === "" ? undefined : JSON.parse(text),
        durationMs: performance.now() - start,
    };
}
