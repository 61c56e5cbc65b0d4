import type { SecondLine } from "./second-line";
import { OpenSecond } from "./seconds";

/** Where k6 sends its samples: to the container beside it. */
export const k6Port = 6564;

/** k6 sends its samples once a second: so late, all of a second have come. */
export const lateSeconds = 3;

/** In the line protocol of InfluxDB 1: metric, tags with any text, value, and nanoseconds since the epoch. */
const sample = /^(\w+)(.*)[ ,]value=([^ ,]+).* (\d+)\d{9}$/;

/**
 * Counts what k6 reports, by the second in which it ended. Sent are iterations, and `busy` are those that k6 dropped
 * since all its VUs were in use; good and bad are requests, of which an iteration has any number.
 */
export class K6Samples {
    private readonly open = new Map<number, OpenSecond>();
    private first = 0;
    private next = 0;
    private latencyMs = 0;

    constructor(private readonly write: (line: SecondLine) => void) {}

    /** Takes in samples. Writes the lines of the seconds of which all have come by now. */
    take(text: string, now = Date.now()): void {
        const second = Math.floor(now / 1_000);
        this.first ||= this.next = second - 1;
        for (const line of text.split("\n")) {
            const [, metric, tags, value, at] = sample.exec(line) ?? [];
            if (metric !== undefined) this.count(this.at(Number(at)), metric, tags!, Number(value));
        }
        for (; this.next < second - lateSeconds; this.next++) {
            const line = this.open.get(this.next)?.written();
            if (line) this.write({ ...line, written: now, due: line.sent + line.busy });
            this.open.delete(this.next);
        }
    }

    private count(second: OpenSecond, metric: string, tags: string, value: number): void {
        if (metric === "iterations") second.sent();
        else if (metric === "dropped_iterations") for (let one = 0; one < value; one++) second.unsent("busy");
        // It comes before whether the request failed.
        else if (metric === "http_req_duration") this.latencyMs = value;
        else if (metric === "http_req_failed") {
            const status = /,status=(\d+)/.exec(tags)?.[1] ?? "unknown";
            const bad = status === "0" ? "no answer" : `status ${status}`;
            second.became(value === 0 ? { latencyMs: this.latencyMs, ownMs: 0 } : { bad });
        }
    }

    private at(time: number): OpenSecond {
        const second = Math.max(this.next, time);
        // k6 reports how many VUs it has about once a second: one second may be without, but not two.
        for (const one of [second, second + 1])
            if (!this.open.has(one)) this.open.set(one, new OpenSecond(one - this.first, one * 1_000, 0, []));
        return this.open.get(second)!;
    }
}
