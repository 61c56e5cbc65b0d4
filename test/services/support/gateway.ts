import { afterEach, beforeAll } from "vitest";
import { answeringJson, list, type Peer } from "./backends";
import { bundle, startProgram, type RunningProgram } from "./programs";

let running: { close(): void }[] = [];
beforeAll(() => void bundle("gateway"));
afterEach(() => {
    running.forEach((each) => each.close());
    running = [];
});

/**
 * Starts a gateway. Backends are healthy unless given. All of them end with the test.
 *
 * @param environment more of the gateway's environment
 */
export async function startGateway(
    peers: { fashion?: Peer; toys?: Peer; hotDeals?: Peer } = {},
    environment: Record<string, string> = {},
) {
    const fashion = peers.fashion ?? (await answeringJson(list("FASHION")));
    const toys = peers.toys ?? (await answeringJson(list("TOYS")));
    const hotDeals = peers.hotDeals ?? (await answeringJson(list("HOT_DEALS")));
    const gateway = await startProgram("gateway", {
        FASHION_URL: fashion.url,
        TOYS_URL: toys.url,
        HOT_DEALS_URL: hotDeals.url,
        ...environment,
    });
    running.push(fashion, toys, hotDeals, { close: () => gateway.kill() });
    return { gateway, fashion, toys, hotDeals };
}

/** Requests the listing and reads the whole response. */
export async function ask(gateway: RunningProgram) {
    const response = await fetch(`${gateway.url}/products`);
    await response.arrayBuffer();
    return response;
}
