import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openLoop } from "../../../../../../chaos/kinds/actions/load/sender/open-loop";
import { bucketOf, mostOf, type SecondLine } from "../../../../../../chaos/kinds/actions/load/sender/second-line";
import { Seconds } from "../../../../../../chaos/kinds/actions/load/sender/seconds";

describe("an open loop", () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    it("begins each call when it is due, however long those before take", () => {
        const due: number[] = [];
        const begun = performance.now();
        const stop = openLoop(
            4,
            (_, dueAt) => due.push(dueAt - begun),
            () => undefined,
        );
        vi.advanceTimersByTime(1_999);
        stop();
        vi.advanceTimersByTime(1_000);
        expect(due).toEqual([0, 250, 500, 750, 1_000, 1_250, 1_500, 1_750]);
    });

    it("does not make up for what its process was too late for: that would be another load", () => {
        const [due, late]: [number[], number[]] = [[], []];
        const begun = performance.now();
        const stop = openLoop(
            100,
            (index) => due.push(index),
            (index) => late.push(index),
        );
        vi.advanceTimersByTime(95);
        // The process does not run for 250 ms.
        vi.spyOn(performance, "now").mockImplementation(() => begun + 345);
        vi.advanceTimersByTime(5);
        stop();
        vi.restoreAllMocks();
        expect(due).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...Array.from({ length: 10 }, (_, index) => 25 + index)]);
        expect(late).toEqual(Array.from({ length: 15 }, (_, index) => 10 + index));
    });
});

describe("the line of a second", () => {
    const lines: SecondLine[] = [];
    let seconds: Seconds;
    beforeEach(() => {
        lines.length = 0;
        seconds = new Seconds(10_000, 3, [100], (line) => lines.push(line));
    });

    it("is written once all that was due in it is known, though later ones are known before", () => {
        const slow = seconds.sent(0);
        for (const index of [1, 2, 3, 4, 5]) seconds.sent(index)({ latencyMs: 5, ownMs: 0 });
        expect(lines.map(({ second }) => second)).toEqual([1]);
        slow("unseen");
        expect(lines.map(({ second, at }) => [second, at])).toEqual([
            [1, 11_000],
            [0, 10_000],
        ]);
    });

    it("counts what was sent, what was not and why, and what was wrong", () => {
        seconds.sent(0)({ bad: "status 503" });
        seconds.unsent(1, "busy");
        seconds.unsent(2, "late");
        expect(lines[0]).toMatchObject({ due: 3, sent: 1, busy: 1, good: 0, bad: { "status 503": 1 }, unseen: 0 });
    });

    it("counts as not sent, by why, what its own machine did not let out", () => {
        for (const index of [0, 1]) seconds.sent(index)({ unsent: "EMFILE" });
        seconds.sent(2)({ bad: "ECONNREFUSED" });
        expect(lines[0]).toMatchObject({ sent: 1, unsent: { EMFILE: 2 }, bad: { ECONNREFUSED: 1 } });
    });

    it("says of a limit which answers were within it, and which only without the sender's own delay", () => {
        seconds.sent(0)({ latencyMs: 100, ownMs: 0 });
        seconds.sent(1)({ latencyMs: 130, ownMs: 40 });
        seconds.sent(2)({ latencyMs: 130, ownMs: 20 });
        expect(lines[0]).toMatchObject({ good: 3, within: [[1, 1]] });
    });
});

it("a bucket of latencies holds none that is more than 5% less than what it is shown as", () => {
    for (const ms of [0.05, 0.1, 0.7, 1, 12.5, 300, 4_999, 60_000]) {
        const shown = mostOf(bucketOf(ms));
        expect(shown).toBeGreaterThanOrEqual(ms * (1 - 1e-9));
        expect(shown).toBeLessThanOrEqual(Math.max(0.1, ms * 1.05 * (1 + 1e-9)));
    }
});
