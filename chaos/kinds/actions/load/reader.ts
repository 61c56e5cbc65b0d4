import * as z from "zod";
import { parseJson } from "../../../values/json";
import { type Quantile, quantiles } from "../../../values/compared";
import type { BesideReader, Delivery } from "../beside";
import { K6Scenarios } from "./k6";
import { type LoadAction, nameOf, requiredOf } from "./load-action";
import { mostOf, type SecondLine } from "./sender/second-line";

const secondMs = 1_000;
/** Lines that came later than this are forgotten: the longest window has an hour. */
const kept = 4_000;

/** Reads the log of a sender: a line for each second. */
export class SenderReader implements BesideReader {
    private readonly lines = new Map<number, SecondLine>();
    /**
     * By how much this machine's clock is ahead of the pod's, in milliseconds, at most: a line had been written when it
     * was read. The least of what was seen is at most a second too much, which is how often lines are written.
     */
    private aheadMs = Infinity;
    private readonly scenarios = new K6Scenarios();

    constructor(private readonly action: LoadAction) {}

    read(log: string, readAt: number): void {
        for (const text of log.split("\n")) {
            const line = lineIn(text);
            if (line === undefined) this.scenarios.read(text);
            if (line === undefined || this.lines.has(line.second)) continue;
            this.lines.set(line.second, line);
            this.aheadMs = Math.min(this.aheadMs, readAt - line.written);
        }
        for (const second of this.lines.keys()) if (this.lines.size > kept) this.lines.delete(second);
    }

    last(seconds: number): Delivery | undefined {
        // A line comes after later ones if an answer of its second was slow.
        const numbers = [...this.lines.keys()]
            .sort((a, b) => b - a)
            .map((newest) => Array.from({ length: seconds }, (_, index) => newest - index))
            .find((all) => all.every((second) => this.lines.has(second)));
        return numbers && this.deliveryOf(numbers);
    }

    between(from: number, to: number): Delivery {
        return this.deliveryOf(this.secondsBetween(from, to));
    }

    isKnown(from: number, to: number): boolean {
        return this.lines.size > 0 && this.secondsBetween(from, to).every((second) => this.lines.has(second));
    }

    whyUnfit(runs: boolean): string | undefined {
        return this.action.k6 && this.scenarios.whyUnfit(runs);
    }

    private secondsBetween(from: number, to: number): number[] {
        // Without any line, the seconds have no numbers that are known.
        const first = this.secondAt(from) ?? -1;
        const end = this.secondAt(to) ?? first + Math.floor((to - from) / secondMs);
        // The second in which it ends is not counted, nor that in which it begins, nor the next, which may be that one:
        // the clocks are compared to a second.
        return Array.from({ length: Math.max(0, end - first - 2) }, (_, index) => first + 2 + index);
    }

    /** The second in which a moment of this machine's clock is. Undefined if nothing was read. */
    private secondAt(at: number): number | undefined {
        const [line] = this.lines.values();
        if (line === undefined) return undefined;
        const begunAt = line.at - line.second * secondMs;
        return Math.floor((at - this.aheadMs - begunAt) / secondMs);
    }

    private deliveryOf(numbers: readonly number[]): Delivery {
        const lines = numbers.flatMap((second) => this.lines.get(second) ?? []);
        const sum = (of: (line: SecondLine) => number) => lines.reduce((total, line) => total + of(line), 0);
        const reported = sum((line) => line.due);
        // What is due by a script of k6 is known only of the seconds that are reported.
        const ofScript = Math.ceil((reported * numbers.length) / lines.length || numbers.length);
        const due = this.action.perSecond === undefined ? ofScript : numbers.length * this.action.perSecond;
        const [sent, unseen, good] = [sum((one) => one.sent), sum((one) => one.unseen), sum((one) => one.good)];
        const unknown = due - sent + unseen;
        const bad = totals(lines.map((line) => line.bad));
        // k6 sends iterations, each of which has some requests.
        const requests = Object.values(bad).reduce((total, one) => total + one, good);
        const times = (count: number) =>
            this.action.k6 && sent > 0 ? Math.round((count * (requests || sent)) / sent) : count;
        const counts = { sent: times(sent), busy: times(sum((one) => one.busy)), unreported: times(due - reported) };
        let limits = 0;
        return {
            name: nameOf(this.action),
            seconds: numbers.length,
            due: this.action.k6 ? counts.sent + counts.busy + counts.unreported : due,
            ...counts,
            unsent: totals(lines.map((line) => line.unsent)),
            good,
            unseen,
            bad,
            latencyMs: latenciesOf(lines),
            shares: requiredOf(this.action).map((one) => {
                if (!("withinMs" in one)) return { ...one, met: good, unknown };
                const index = limits++;
                const [met, perhaps] = [0, 1].map((part) => sum(({ within }) => within[index]![part]!));
                return { ...one, met: met!, unknown: unknown + perhaps! };
            }),
        };
    }
}

const count = z.int().nonnegative();
const lineSchema = z.object({
    second: count,
    at: z.number(),
    written: z.number(),
    due: count,
    sent: count,
    busy: count,
    unsent: z.record(z.string(), count),
    good: count,
    bad: z.record(z.string(), count),
    unseen: count,
    within: z.array(z.tuple([count, count])),
    latencies: z.array(z.tuple([count, count])),
}) satisfies z.ZodType<SecondLine>;

/** A line of the log. Undefined if it is none: the container may print something else there. */
const lineIn = (text: string): SecondLine | undefined =>
    text.startsWith("{") ? lineSchema.safeParse(parseJson(text)).data : undefined;

function totals(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
    const all: Record<string, number> = {};
    for (const [what, count] of counts.flatMap((one) => Object.entries(one))) all[what] = (all[what] ?? 0) + count;
    return all;
}

function latenciesOf(lines: readonly SecondLine[]): Delivery["latencyMs"] {
    const buckets = new Map<number, number>();
    for (const [bucket, answers] of lines.flatMap(({ latencies }) => latencies))
        buckets.set(bucket, (buckets.get(bucket) ?? 0) + answers);
    const sorted = [...buckets].sort(([a], [b]) => a - b);
    const all = sorted.reduce((total, [, answers]) => total + answers, 0);
    if (all === 0) return undefined;
    const rounded = (bucket: number) => Number(mostOf(bucket).toPrecision(3));
    const quantile = (share: number) => {
        let below = 0;
        return rounded(sorted.find(([, answers]) => (below += answers) >= share * all)![0]);
    };
    const of = Object.fromEntries(Object.entries(quantiles).map(([name, share]) => [name, quantile(share)]));
    return { ...(of as Record<Quantile, number>), most: rounded(sorted.at(-1)![0]) };
}
