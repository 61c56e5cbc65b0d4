import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { steadyLoad } from "../../../bench/load";

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
        const latencies = await steadyLoad(url, 200, 0.5);
        expect(latencies.length).toBeGreaterThan(80);
        // More requests than connections were due while the first of them waited, and waited with them.
        expect(latencies.filter((latency) => latency > 100).length).toBeGreaterThan(30);
    });

    it("is an error that counts the failed requests", async () => {
        const url = await serve((count) => ({ status: count === 2 ? 503 : 200 }));
        await expect(steadyLoad(url, 100, 0.1)).rejects.toThrow("1 requests failed, the first with status 503");
    });

    it("is an error if nothing answers", async () => {
        const url = await serve(() => ({}));
        close();
        await expect(steadyLoad(url, 100, 0.1)).rejects.toThrow("ECONNREFUSED");
    });
});
