import { describe, expect, it } from "vitest";
import { createOrders } from "../../../services/orders/orders-app";
import type { Book } from "../../../services/orders/book";
import { createLog } from "../../../services/shared/log";
import { createMetrics } from "../../../services/shared/metrics";
import { pass, stopClock } from "./support/clock";

describe("the metric of orders", () => {
    const scrape = async (countByState: Book["countByState"]) => {
        const book = { countByState } as Book;
        const [metrics, log] = [createMetrics(), createLog("test", "silent")];
        const application = createOrders({
            book,
            checkReachability: async () => {},
            countWaiting: async () => 0,
            metrics,
            log,
        });
        return (await application.request("/metrics")).text();
    };

    it("shows the current number in each state", async () => {
        const shown = await scrape(async () => ({ ACCEPTED: 2, FULFILLED: 5 }));
        expect(shown.match(/^orders\{.*$/gm)).toEqual([
            `orders{state="ACCEPTED"} 2`,
            `orders{state="FULFILLED"} 5`,
            `orders{state="REJECTED"} 0`,
        ]);
    });

    it.each([
        ["fails", () => Promise.reject(new Error("no database"))],
        ["takes longer than 2 s", () => new Promise<never>(() => {})],
    ])("is omitted if counting them %s; other metrics are shown", async (_what, countByState) => {
        stopClock();
        const text = scrape(countByState);
        await pass(2_000);
        const shown = await text;
        expect(shown).not.toMatch(/^orders\{/m);
        expect(shown).toMatch(/^process_resident_memory_bytes \d+/m);
    });
});
