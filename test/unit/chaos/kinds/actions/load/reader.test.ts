import { describe, expect, it } from "vitest";
import type { LoadAction } from "../../../../../../chaos/kinds/actions/load/load-action";
import { SenderReader } from "../../../../../../chaos/kinds/actions/load/reader";
import { bucketOf, type SecondLine } from "../../../../../../chaos/kinds/actions/load/sender/second-line";

const action: LoadAction = { kind: "load", service: "web", path: "/", perSecond: 10 };
/** By the pod's clock, which is behind this machine's. */
const begunAt = 1_000_000;
const aheadMs = 7_000;

const line = (second: number, more: Partial<SecondLine> = {}): SecondLine => ({
    second,
    at: begunAt + second * 1_000,
    written: begunAt + second * 1_000 + 1_005,
    due: 10,
    sent: 10,
    busy: 0,
    unsent: {},
    good: 10,
    bad: {},
    unseen: 0,
    within: [],
    latencies: [[bucketOf(20), 10]],
    ...more,
});
const textOf = (...lines: SecondLine[]) => lines.map((one) => `${JSON.stringify(one)}\n`).join("");

/** Reads lines as the pod writes them, and at once. */
function readerOf(lines: readonly SecondLine[], of: Partial<LoadAction> = {}): SenderReader {
    const reader = new SenderReader({ ...action, ...of });
    for (const one of lines) reader.read(textOf(one), one.written + aheadMs);
    return reader;
}
const seconds = (count: number, more: Partial<SecondLine> = {}) =>
    Array.from({ length: count }, (_, second) => line(second, more));
/** A moment of this machine's clock. */
const at = (second: number) => begunAt + aheadMs + second * 1_000;

it("counts only whole seconds that are surely within a time, by clocks that differ", () => {
    const marked = seconds(10).map((one) => ({ ...one, good: one.second >= 4 && one.second < 7 ? 10 : 0 }));
    expect(readerOf(marked).between(at(2), at(7))).toMatchObject({ seconds: 3, due: 30, sent: 30, good: 30 });
});

it("takes what was not reported for not sent", () => {
    const reader = readerOf(seconds(10).filter(({ second }) => second !== 5));
    expect(reader.between(at(2), at(9))).toMatchObject({ seconds: 5, due: 50, sent: 40, unreported: 10 });
    expect(new SenderReader(action).between(at(0), at(10))).toMatchObject({ seconds: 8, due: 80, sent: 0, good: 0 });
});

it("knows when all is known of a time, and what the last seconds were", () => {
    const reader = readerOf(seconds(6));
    expect([reader.isKnown(at(1), at(6)), reader.isKnown(at(1), at(7.5))]).toEqual([true, false]);
    expect(readerOf([]).isKnown(at(1), at(2))).toBe(false);
    expect(reader.last(5)).toMatchObject({ due: 50, sent: 50 });
    expect(readerOf(seconds(4)).last(5)).toBeUndefined();
});

describe("while an answer is missing, and later seconds are written", () => {
    const missing = line(6, { written: begunAt + 12_000 });
    const others = seconds(10).filter(({ second }) => second !== missing.second);
    // All its requests found no connection: it is written at once.
    Object.assign(others.at(-1)!, { sent: 0, busy: 10, good: 0, latencies: [] });

    it("does not know all of the time", () => {
        const reader = readerOf(others);
        expect(reader.isKnown(at(1), at(10))).toBe(false);
        reader.read(textOf(missing), missing.written + aheadMs);
        expect(reader.isKnown(at(1), at(10))).toBe(true);
        expect(reader.between(at(1), at(10))).toMatchObject({ unreported: 0 });
    });

    it("knows the last seconds before it", () => {
        const marked = others.map((one) => ({ ...one, good: one.second < 6 ? 9 : 10 }));
        expect(readerOf(marked).last(5)).toMatchObject({ due: 50, good: 45 });
    });
});

it("reads each line once, in several excerpts of a log, and nothing else that is there", () => {
    const reader = readerOf([]);
    const text = `hello\n{"second":-1}\n{"second":0}\n${textOf(...seconds(6))}`;
    for (const excerpt of [text, text, textOf(line(5), line(6))]) reader.read(excerpt, begunAt + 10_000 + aheadMs);
    expect(reader.last(7)).toMatchObject({ due: 70, good: 70 });
    expect(reader.last(8)).toBeUndefined();
});

it("says of what is required how many requests met it, and of how many that is unknown", () => {
    const limited = { successRate: 0.9, latency: { p95: { atMost: "50ms" } } };
    const some = {
        ...{ sent: 7, busy: 1, unsent: { EMFILE: 1 }, good: 5, unseen: 1, bad: { "status 503": 1 } },
        within: [[4, 1]],
    };
    const delivery = readerOf(seconds(10, structuredClone(some) as never), limited).last(2)!;
    expect(delivery.shares).toEqual([
        { of: "successRate", required: 0.9, met: 10, unknown: 8 },
        { of: "p95", required: 0.95, withinMs: 50, met: 8, unknown: 10 },
    ]);
    expect(delivery).toMatchObject({ bad: { "status 503": 2 }, unsent: { EMFILE: 2 } });
});

it("shows quantiles of the latencies of good answers", () => {
    const latencies = [
        [bucketOf(10), 90],
        [bucketOf(200), 9],
        [bucketOf(3_000), 1],
    ] as [number, number][];
    const { latencyMs } = readerOf([line(0, { latencies })]).last(1)!;
    const within5Percent = (ms: number) => [ms, Math.ceil(ms * 1.05)] as const;
    for (const [name, ms] of Object.entries({ p50: 10, p95: 200, p99: 200, most: 3_000 })) {
        const [least, most] = within5Percent(ms);
        expect(latencyMs![name as "p50"], name).toBeGreaterThanOrEqual(least);
        expect(latencyMs![name as "p50"], name).toBeLessThanOrEqual(most);
    }
    expect(readerOf([line(0, { good: 0, latencies: [] })]).last(1)!.latencyMs).toBeUndefined();
});
