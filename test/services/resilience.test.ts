import { describe, expect, it } from "vitest";
import { answering, answeringJson, dropping, refusing, silent, type Peer } from "./support/backends";
import { ask, list, startGateway, TIMEOUT_MS } from "./support/gateway";
import { eventually } from "./support/ports";

/** What of a listing whose hot deals failed tells how that was dealt with. */
const partsOf = ({ status, body }: Awaited<ReturnType<typeof ask>>) => [
    status,
    body.statusFashion,
    body.statusToys,
    body.statusHotDeals,
    body.hotDealsResponse,
];
const marked = (why: string) => [
    200,
    "REMOTE_SERVICE",
    "REMOTE_SERVICE",
    why,
    { responseType: "FALLBACK", products: [] },
];

const refuses = { what: "refuses connections", peer: refusing, marked: "UNREACHABLE", hangs: false };
const fails = {
    what: "answers with status 500",
    peer: () => answeringJson({}, 500),
    marked: "BAD_ANSWER",
    hangs: false,
};
const hangs = { what: "accepts and never answers", peer: silent, marked: "TIMEOUT", hangs: true };
const drops = { what: "is behind a firewall that drops", peer: dropping, marked: "TIMEOUT", hangs: true };

/** How many time-outs each pattern waits for a backend that hangs. */
const patience = { exception: 3, timeout: 1, retry: 3, circuitbreaker: 3, parallel: 1 };
/** Between tries a retry pauses, 0.3 s at most in all; the rest is for a busy machine. */
const SLACK_MS = 2_000;

describe.each([refuses, fails, hangs, drops])("where hot-deals $what", ({ peer, marked: why, hangs }) => {
    it("each pattern lists the others and marks it, after as many time-outs as it waits for", async () => {
        const { gateway } = await startGateway({ hotDeals: await peer() });
        const answers = Object.entries(patience).map(async ([name, timeouts]) => {
            const answer = await ask(gateway, `/products/${name}`);
            expect([name, ...partsOf(answer)]).toEqual([name, ...marked(why)]);
            expect(answer.durationMs).toBeGreaterThan(hangs ? timeouts * TIMEOUT_MS - 10 : 0);
            expect(answer.durationMs).toBeLessThan((hangs ? timeouts : 1) * TIMEOUT_MS + SLACK_MS);
        });
        await Promise.all(answers);
    });
});

describe("where nothing is wrong", () => {
    it.each([...Object.keys(patience), "cb", "v2"])("/products/%s answers as /products does", async (name) => {
        const { gateway } = await startGateway();
        const { duration: _, ...whole } = (await ask(gateway)).body;
        const { status, body } = await ask(gateway, `/products/${name}`);
        expect(status).toBe(200);
        expect(body).toEqual({ ...whole, duration: expect.any(Number) });
    });
});

/** Fails so many times, then answers. */
const failing = (times: number): Promise<Peer> =>
    answering((_request, response) => {
        response.writeHead(times-- > 0 ? 500 : 200).end(JSON.stringify(list("HOT_DEALS")));
    });

describe("/products/retry", () => {
    it("lists everything where a backend fails twice and then answers", async () => {
        const { gateway, hotDeals } = await startGateway({ hotDeals: await failing(2) });
        expect((await ask(gateway, "/products/retry")).body.statusHotDeals).toBe("REMOTE_SERVICE");
        expect(hotDeals.connections()).toBe(3);
    });

    it("gives up after three tries", async () => {
        const { gateway, hotDeals } = await startGateway({ hotDeals: await failing(3) });
        expect((await ask(gateway, "/products/retry")).body.statusHotDeals).toBe("BAD_ANSWER");
        expect(hotDeals.connections()).toBe(3);
    });
});

describe("/products/parallel", () => {
    it("waits for three backends that hang no longer than for one, where /products/timeout waits for each", async () => {
        const { gateway } = await startGateway({
            fashion: await silent(),
            toys: await silent(),
            hotDeals: await silent(),
        });
        expect((await ask(gateway, "/products/parallel")).durationMs).toBeLessThan(2 * TIMEOUT_MS);
        expect((await ask(gateway, "/products/timeout")).durationMs).toBeGreaterThan(3 * TIMEOUT_MS - 10);
    });
});

describe("/products/circuitbreaker", () => {
    const circuit = "/products/circuitbreaker";

    it("leaves a backend alone after five failures in a row, and answers at once", async () => {
        const { gateway, hotDeals } = await startGateway({ hotDeals: await silent() });
        await ask(gateway, circuit);
        await ask(gateway, circuit);
        expect(hotDeals.connections()).toBe(5);
        const answer = await ask(gateway, circuit);
        expect(partsOf(answer)).toEqual(marked("CIRCUIT_OPEN"));
        expect(answer.durationMs).toBeLessThan(TIMEOUT_MS);
        expect(hotDeals.connections()).toBe(5);
    });

    it("lists everything again, without a restart, soon after the backend is back", async () => {
        const { gateway } = await startGateway({ hotDeals: await failing(5) });
        await ask(gateway, circuit);
        await ask(gateway, circuit);
        expect((await ask(gateway, circuit)).body.statusHotDeals).toBe("CIRCUIT_OPEN");
        await eventually(
            "the circuit closes",
            async () => (await ask(gateway, circuit)).body.statusHotDeals === "REMOTE_SERVICE",
            7_000,
        );
    });

    it.each(["/products/cb", "/products/v2"])("is also known as %s, with the same circuits", async (alias) => {
        const { gateway } = await startGateway({ hotDeals: await refusing() });
        await ask(gateway, circuit);
        await ask(gateway, circuit);
        expect((await ask(gateway, alias)).body.statusHotDeals).toBe("CIRCUIT_OPEN");
    });

    it("keeps the circuits of the others closed, and shows the state of each in the metrics", async () => {
        const { gateway } = await startGateway({ hotDeals: await failing(5) });
        await ask(gateway, circuit);
        await ask(gateway, circuit);
        const shown = (await (await fetch(`${gateway.url}/metrics`)).text()).match(/^circuit_state\{.*\} 1$/gm);
        expect(shown).toEqual([
            `circuit_state{backend="fashion-bestseller",state="closed"} 1`,
            `circuit_state{backend="toys-bestseller",state="closed"} 1`,
            `circuit_state{backend="hot-deals",state="open"} 1`,
        ]);
    });

    it("opens no circuit for /products, which goes on asking", async () => {
        const { gateway } = await startGateway({ hotDeals: await failing(5) });
        await ask(gateway, circuit);
        await ask(gateway, circuit);
        expect((await ask(gateway)).status).toBe(200);
    });
});
