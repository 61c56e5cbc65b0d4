import { describe, expect, it } from "vitest";
import { answering, answeringJson, dropping, list, refusing, silent, type Peer } from "../../services/support/backends";
import { marked, partsOf } from "../../support/listing";
import { pass, passUntilSettled, stopClock, turnUntil } from "./support/clock";
import { ask, openGateway, TIMEOUT_MS } from "./support/gateway";

/** How many timeouts each pattern waits for a backend that hangs. */
const timeouts = { exception: 3, timeout: 1, retry: 3, circuitbreaker: 3, parallel: 1 };
const patterns = Object.keys(timeouts) as (keyof typeof timeouts)[];
/** All pauses between two retries together, in milliseconds. */
const PAUSES_MS = 300;

describe.each([
    { what: "refuses connections", peer: refusing, why: "UNREACHABLE" },
    { what: "answers with status 500", peer: () => answeringJson({}, 500), why: "BAD_ANSWER" },
])("if hot-deals $what", ({ peer, why }) => {
    it.each(patterns)("/products/%s lists the other two and marks it, before any timeout", async (name) => {
        const { gateway } = await openGateway({ hotDeals: await peer() });
        stopClock();
        const begun = performance.now();
        const answer = await passUntilSettled(ask(gateway, `/products/${name}`));
        expect(partsOf(answer)).toEqual(marked(why));
        expect(performance.now() - begun).toBeLessThan(TIMEOUT_MS);
    });
});

describe.each([
    { what: "accepts and never answers", peer: silent },
    { what: "is behind a firewall that drops", peer: dropping },
])("if hot-deals $what", ({ peer }) => {
    it("each pattern lists the other two and marks it, after exactly its number of timeouts", async () => {
        const { gateway } = await openGateway({ hotDeals: await peer() });
        stopClock();
        const begun = performance.now();
        const answers = patterns.map(async (name) => {
            const answer = await ask(gateway, `/products/${name}`);
            return { name, answer, waitedMs: performance.now() - begun };
        });
        const answered = (metrics: string, backend: string) =>
            metrics.includes(`_count{backend="${backend}",outcome="ok"} ${patterns.length}\n`);
        await turnUntil(async () => {
            const { text } = await ask(gateway, "/metrics");
            return answered(text, "fashion-bestseller") && answered(text, "toys-bestseller");
        });
        await pass(3 * TIMEOUT_MS + PAUSES_MS);
        for (const { name, answer, waitedMs } of await Promise.all(answers)) {
            expect([name, ...partsOf(answer)]).toEqual([name, ...marked("TIMEOUT")]);
            const pausesMs = name === "retry" || name === "circuitbreaker" ? PAUSES_MS : 0;
            expect(waitedMs).toBeGreaterThanOrEqual(timeouts[name] * TIMEOUT_MS);
            expect(waitedMs).toBeLessThanOrEqual(timeouts[name] * TIMEOUT_MS + pausesMs);
        }
    });
});

describe("if nothing is wrong", () => {
    it.each([...patterns, "cb", "v2"])("/products/%s answers like /products", async (name) => {
        const { gateway } = await openGateway();
        const { duration: _, ...whole } = (await ask(gateway)).body;
        const { status, body } = await ask(gateway, `/products/${name}`);
        expect(status).toBe(200);
        expect(body).toEqual({ ...whole, duration: expect.any(Number) });
    });
});

/** Fails the given number of times, then answers. */
const failing = (times: number): Promise<Peer> =>
    answering((_request, response) => {
        response.writeHead(times-- > 0 ? 500 : 200).end(JSON.stringify(list("HOT_DEALS")));
    });

/** A gateway whose clock stands still but while a request is under way. */
async function openStopped(peers: Parameters<typeof openGateway>[0]) {
    const opened = await openGateway(peers);
    stopClock();
    return { ...opened, get: (path?: string) => passUntilSettled(ask(opened.gateway, path)) };
}

describe("/products/retry", () => {
    it("lists everything if a backend fails twice and then answers", async () => {
        const { get, hotDeals } = await openStopped({ hotDeals: await failing(2) });
        expect((await get("/products/retry")).body.statusHotDeals).toBe("REMOTE_SERVICE");
        expect(hotDeals.connections()).toBe(3);
    });

    it("gives up after three tries", async () => {
        const { get, hotDeals } = await openStopped({ hotDeals: await failing(3) });
        expect((await get("/products/retry")).body.statusHotDeals).toBe("BAD_ANSWER");
        expect(hotDeals.connections()).toBe(3);
    });
});

describe("with three backends that hang", () => {
    it.each([
        ["parallel", 1],
        ["timeout", 3],
    ])("/products/%s waits %i timeouts", async (name, expected) => {
        const [fashion, toys, hotDeals] = [await silent(), await silent(), await silent()];
        const { gateway } = await openGateway({ fashion, toys, hotDeals });
        stopClock();
        let answered = false;
        const answer = ask(gateway, `/products/${name}`).finally(() => (answered = true));
        await pass(expected * TIMEOUT_MS - 1);
        expect(answered).toBe(false);
        await pass(1);
        expect((await answer).status).toBe(200);
    });
});

describe("/products/circuitbreaker", () => {
    const circuit = "/products/circuitbreaker";

    it("stops calling a backend after five consecutive failures, and then answers at once", async () => {
        const { gateway, get, hotDeals } = await openStopped({ hotDeals: await silent() });
        await get(circuit);
        await get(circuit);
        expect(hotDeals.connections()).toBe(5);
        // The clock stands still: nothing is waited for.
        expect(partsOf(await ask(gateway, circuit))).toEqual(marked("CIRCUIT_OPEN"));
        expect(hotDeals.connections()).toBe(5);
    });

    it("lists everything again 5 s after the circuit opened, if the backend is back", async () => {
        const { get } = await openStopped({ hotDeals: await failing(5) });
        await get(circuit);
        await get(circuit);
        expect((await get(circuit)).body.statusHotDeals).toBe("CIRCUIT_OPEN");
        await pass(5_000);
        expect((await get(circuit)).body.statusHotDeals).toBe("REMOTE_SERVICE");
    });

    it.each(["/products/cb", "/products/v2"])("has the alias %s, with the same circuits", async (alias) => {
        const { get } = await openStopped({ hotDeals: await refusing() });
        await get(circuit);
        await get(circuit);
        expect((await get(alias)).body.statusHotDeals).toBe("CIRCUIT_OPEN");
    });

    it("keeps the circuits of the others closed, and shows the state of each in the metrics", async () => {
        const { get } = await openStopped({ hotDeals: await failing(5) });
        await get(circuit);
        await get(circuit);
        expect((await get("/metrics")).text.match(/^circuit_state\{.*\} 1$/gm)).toEqual([
            `circuit_state{backend="fashion-bestseller",state="closed"} 1`,
            `circuit_state{backend="toys-bestseller",state="closed"} 1`,
            `circuit_state{backend="hot-deals",state="open"} 1`,
        ]);
    });

    it("opens no circuit for /products, which keeps calling", async () => {
        const { get } = await openStopped({ hotDeals: await failing(5) });
        await get(circuit);
        await get(circuit);
        expect((await get("/products")).status).toBe(200);
    });
});
