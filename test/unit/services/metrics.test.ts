import { describe, expect, it } from "vitest";
import { createLog } from "../../../services/shared/log";
import { createMetrics, gaugeCounts } from "../../../services/shared/metrics";

const log = createLog("test", "silent");
const orders = { name: "orders", help: "Orders by state", label: "state", log };

describe("a gauge of counts that are kept elsewhere", () => {
    it("shows them as they are at each scrape, and forgets those that are gone", async () => {
        const metrics = createMetrics();
        let counts: Record<string, number> = { ACCEPTED: 2, FULFILLED: 5 };
        gaugeCounts(metrics, { ...orders, read: () => counts });
        expect(await metrics.metrics()).toMatch(/^orders\{state="ACCEPTED"\} 2\norders\{state="FULFILLED"\} 5$/m);
        counts = { FULFILLED: 7 };
        expect((await metrics.metrics()).match(/^orders\{.*$/gm)).toEqual([`orders{state="FULFILLED"} 7`]);
    });

    it.each([
        ["cannot be had", () => Promise.reject(new Error("no database"))],
        ["do not come", () => new Promise<never>(() => {})],
    ])("is left out where they %s, and the rest is shown", async (_what, read) => {
        const metrics = createMetrics();
        gaugeCounts(metrics, { ...orders, read });
        const shown = await metrics.metrics();
        expect(shown).not.toMatch(/^orders\{/m);
        expect(shown).toMatch(/^process_resident_memory_bytes \d+/m);
    });
});
