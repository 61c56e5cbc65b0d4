import { type ConnectionReport, type KillReport, type LogLine } from "./protocol";

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
    private toldAt = -Infinity;
    /** Whether each endpoint accepted a connection in the last look. */
    private accepted = new Map<string, boolean>();

    constructor(
        private readonly write: (line: string) => void,
        private readonly begun: number,
    ) {}

    looked({ at, open, closed }: ConnectionReport): void {
        const now = new Map([
            ...open.map((endpoint) => [endpoint, true] as const),
            ...closed.map((endpoint) => [endpoint, false] as const),
        ]);
        const changes = [
            ...[...now].flatMap(([endpoint, accepted]) =>
                this.accepted.get(endpoint) === accepted
                    ? []
                    : [{ endpoint, to: accepted ? "open" : "closed" } as const],
            ),
            ...[...this.accepted.keys()].flatMap((endpoint) =>
                now.has(endpoint) ? [] : [{ endpoint, to: "gone" } as const],
            ),
        ];
        this.accepted = now;
        // Not the difference itself: the clock may be set back.
        if (changes.length === 0 && Math.abs(at - this.toldAt) < heartbeatMs) return;
        this.toldAt = at;
        for (let from = 0; from === 0 || from < changes.length; from += maxEndpoints) {
            const some = changes.slice(from, from + maxEndpoints);
            const now = (state: (typeof some)[number]["to"]) => {
                const endpoints = some.filter(({ to }) => to === state).map(({ endpoint }) => endpoint);
                return endpoints.length > 0 ? { [state]: endpoints } : {};
            };
            const more = from + maxEndpoints < changes.length;
            this.append({ at, changed: { ...now("open"), ...now("closed"), ...now("gone"), ...(more && { more }) } });
        }
    }

    killed(report: KillReport): void {
        this.append(report);
    }

    private append(content: Pick<LogLine, "at" | "changed" | "killed">): void {
        this.write(`${JSON.stringify({ begun: this.begun, line: this.lines++, ...content } satisfies LogLine)}\n`);
    }
}
