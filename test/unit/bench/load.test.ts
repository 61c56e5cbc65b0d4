import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { fullLoad, percentile, steadyLoad } from "../../../bench/load";

describe("a percentile", () => {
    it.each([
        [[5], 99, 5],
        [[3, 1, 2, 4], 50, 2],
        [Array.from({ length: 200 }, (_, index) => index + 1), 99, 198],
    ])("of %j at %d is %d", (samples, percent, expected) => expect(percentile(samples, percent)).toBe(expected));
});

describe("a load", () => {
    let close = () => {};
    afterEach(() => close());
    const serve = async (answer: (count: number) => { status?: number; delayMs?: number }) => {
        let count = 0;
        const server = createServer((_request, response) => {
            const { status = 200, delayMs = 0 } = answer(count++);
            setTimeout(() => response.writeHead(status).end(), delayMs);
        });
        close = () => server.close();
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    };

    it("at a fixed rate counts a stall for every request that was due during it", async () => {
        const begun = performance.now();
        const url = await serve(() => ({ delayMs: Math.max(0, 300 - (performance.now() - begun)) }));
        const { latencies } = await steadyLoad(url, 200, 0.5);
        expect(latencies.length).toBeGreaterThan(80);
        // More requests than connections were due while the first of them waited, and waited with them.
        expect(latencies.filter((latency) => latency > 100).length).toBeGreaterThan(30);
    });

    it("counts bad answers, and leaves them out of the latencies", async () => {
        const url = await serve((count) => ({ status: count % 2 === 0 ? 200 : 503 }));
        const { latencies, bad } = await fullLoad(url, 0.3);
        expect(bad).toBeGreaterThan(0);
        expect(latencies.length).toBeGreaterThan(0);
    });

    it("without a good answer is an error", async () => {
        const url = await serve(() => ({ status: 503 }));
        await expect(fullLoad(url, 0.1)).rejects.toThrow("no good answer");
    });
});
