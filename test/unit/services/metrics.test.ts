import { describe, expect, it } from "vitest";
import { createLog } from "../../../services/shared/log";
import { createMetrics, gaugeCounts } from "../../../services/shared/metrics";
import { pass, stopClock } from "./support/clock";

const log = createLog("test", "silent");
const orders = { name: "orders", help: "Orders by state", label: "state", log };

describe("a gauge of counts that are kept elsewhere", () => {
    it("shows the current counts at each scrape", async () => {
        const metrics = createMetrics();
        let counts: Record<string, number> = { ACCEPTED: 2, FULFILLED: 5 };
        gaugeCounts(metrics, { ...orders, read: () => counts });
        expect(await metrics.metrics()).toMatch(/^orders\{state="ACCEPTED"\} 2\norders\{state="FULFILLED"\} 5$/m);
        counts = { FULFILLED: 7 };
        expect((await metrics.metrics()).match(/^orders\{.*$/gm)).toEqual([`orders{state="FULFILLED"} 7`]);
    });

    it.each([
        ["fails", () => Promise.reject(new Error("no database"))],
        ["takes longer than 2 s", () => new Promise<never>(() => {})],
    ])("is omitted if reading them %s; other metrics are shown", async (_what, read) => {
        const metrics = createMetrics();
        gaugeCounts(metrics, { ...orders, read });
        stopClock();
        const text = metrics.metrics();
        await pass(2_000);
        const shown = await text;
        expect(shown).not.toMatch(/^orders\{/m);
        expect(shown).toMatch(/^process_resident_memory_bytes \d+/m);
    });
});
