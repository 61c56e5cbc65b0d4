import {
    type Change,
    type ConnectionReport,
    type KillReport,
    type LogLine,
    type Missed,
    type RefusedEviction,
    type UsageLine,
} from "./protocol";

/** How often the log says that the Job has looked, if nothing has changed. */
const heartbeatMs = 2_000;
/** Endpoints in a line: container runtimes split lines of 16 KiB. */
const maxEndpoints = 200;

/**
 * The log of the Job's process. It has changes only: every look at 2,000 targets would be hundreds of kilobytes per
 * second, and kubelets keep the last 10 MiB of a log by default.
 */
export class JobLog {
    private lines = 0;
    private printedAt = -Infinity;
    /** Whether each endpoint accepted a connection in the last look. */
    private accepted = new Map<string, Change>();
    private kept = new Map<string, Change>();

    constructor(
        private readonly write: (line: string) => void,
        private readonly begun: number,
    ) {}

    looked({ at, open, closed, triedMs, kept = {} }: ConnectionReport): void {
        const accepted = new Map<string, Change>([
            ...open.map((endpoint) => [endpoint, "open"] as const),
            ...closed.map((endpoint) => [endpoint, "closed"] as const),
        ]);
        const states = new Map<string, Change>(Object.entries(kept));
        const changes = [...changesTo(accepted, this.accepted, "gone"), ...changesTo(states, this.kept, "unkept")];
        this.accepted = accepted;
        this.kept = states;
        // The clock may be set back, so the size of the difference counts.
        if (changes.length === 0 && Math.abs(at - this.printedAt) < heartbeatMs) return;
        this.printedAt = at;
        for (let from = 0; from === 0 || from < changes.length; from += maxEndpoints) {
            const some = changes.slice(from, from + maxEndpoints);
            const changed: LogLine["changed"] = {};
            for (const [endpoint, to] of some) (changed[to] ??= []).push(endpoint);
            const more = from + maxEndpoints < changes.length;
            const tried = changed.closed && triedMs !== undefined && { triedMs };
            this.append({ at, changed: { ...changed, ...(more && { more }) }, ...tried });
        }
    }

    /** Writes down a kill, a refused eviction, what was due and could not be made, or what a container uses. */
    reported(report: KillReport | RefusedEviction | Missed | UsageLine): void {
        this.append(report);
    }

    private append(content: Omit<LogLine, "begun" | "line">): void {
        this.write(`${JSON.stringify({ begun: this.begun, line: this.lines++, ...content } satisfies LogLine)}\n`);
    }
}

/** The endpoints whose state is not as before. @param absent the state of those that are no longer there */
function changesTo(
    now: ReadonlyMap<string, Change>,
    before: ReadonlyMap<string, Change>,
    absent: Change,
): [endpoint: string, to: Change][] {
    return [
        ...[...now].filter(([endpoint, to]) => before.get(endpoint) !== to),
        ...[...before.keys()].flatMap((endpoint): [string, Change][] =>
            now.has(endpoint) ? [] : [[endpoint, absent]],
        ),
    ];
}
