import { bucketOf, type SecondLine } from "./second-line";

/** What became of a request that was sent. */
export type Became =
    /** `latencyMs` counts from when it was due, and has at most `ownMs` of the sender's own delay. */
    | { latencyMs: number; ownMs: number }
    | { bad: string }
    /** It was not sent, for a reason of the sender's machine. */
    | { unsent: string }
    | "unseen";

/** A second whose line is not written yet. */
export class OpenSecond {
    private readonly line: Omit<SecondLine, "latencies" | "written">;
    private readonly latencies = new Map<number, number>();
    private waiting = 0;
    private handled = 0;

    constructor(
        second: number,
        at: number,
        due: number,
        private readonly limitsMs: readonly number[],
    ) {
        const nothing = { sent: 0, busy: 0, unsent: {}, good: 0, bad: {}, unseen: 0 };
        this.line = { second, at, due, ...nothing, within: limitsMs.map(() => [0, 0]) };
    }

    get isOver(): boolean {
        return this.handled === this.line.due && this.waiting === 0;
    }

    sent(): void {
        this.handled++;
        this.waiting++;
        this.line.sent++;
    }

    unsent(why: "busy" | "late"): void {
        this.handled++;
        if (why === "busy") this.line.busy++;
    }

    became(it: Became): void {
        this.waiting--;
        const { line, latencies, limitsMs } = this;
        if (it === "unseen") line.unseen++;
        else if ("bad" in it) line.bad[it.bad] = (line.bad[it.bad] ?? 0) + 1;
        else if ("unsent" in it) {
            line.sent--;
            line.unsent[it.unsent] = (line.unsent[it.unsent] ?? 0) + 1;
        } else {
            line.good++;
            const bucket = bucketOf(it.latencyMs);
            latencies.set(bucket, (latencies.get(bucket) ?? 0) + 1);
            for (const [index, limitMs] of limitsMs.entries())
                if (it.latencyMs <= limitMs) line.within[index]![0]++;
                else if (it.latencyMs - it.ownMs <= limitMs) line.within[index]![1]++;
        }
    }

    written(): SecondLine {
        const latencies = [...this.latencies].sort(([a], [b]) => a - b);
        return { ...this.line, written: Date.now(), latencies };
    }
}

/** Counts requests by the second in which they were due, and writes a line for each second once all is known of it. */
export class Seconds {
    private readonly open = new Map<number, OpenSecond>();

    /** @param beganAt when the first request was due, in milliseconds since the epoch */
    constructor(
        private readonly beganAt: number,
        private readonly perSecond: number,
        private readonly limitsMs: readonly number[],
        private readonly write: (line: SecondLine) => void,
    ) {}

    /** @param index of the request, from 0 @returns takes what becomes of it */
    sent(index: number): (it: Became) => void {
        const [second, its] = this.at(index);
        its.sent();
        return (it) => {
            its.became(it);
            this.close(second, its);
        };
    }

    unsent(index: number, why: "busy" | "late"): void {
        const [second, its] = this.at(index);
        its.unsent(why);
        this.close(second, its);
    }

    private at(index: number): [number, OpenSecond] {
        const { beganAt, perSecond, limitsMs, open } = this;
        const second = Math.floor(index / perSecond);
        let its = open.get(second);
        if (its === undefined)
            open.set(second, (its = new OpenSecond(second, beganAt + second * 1_000, perSecond, limitsMs)));
        return [second, its];
    }

    private close(second: number, its: OpenSecond): void {
        if (its.isOver && this.open.delete(second)) this.write(its.written());
    }
}
