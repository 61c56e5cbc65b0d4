import { limits, type PodCounts, type ProxyReport } from "./protocol";

/** Counts are reported this often even if nothing has changed, in milliseconds. */
const heartbeatMs = 2_000;

export class Counts {
    private readonly pods: Record<string, PodCounts> = {};
    private readonly since = Date.now();
    private refused = 0;
    private clients = 0;
    private changed = false;
    private reportedAt = -Infinity;

    add(uid: string, what: keyof PodCounts): void {
        this.pods[uid] ??= { requests: 0, faulted: 0, unfaultable: 0, unreachable: 0 };
        this.pods[uid][what] = (this.pods[uid][what] ?? 0) + 1;
        this.changed = true;
    }

    /** Counts a connection that was closed for a limit of all connections together, although it was not idle. */
    refuse(): void {
        if (this.refused++ === 0) {
            const { connections, heldBytes } = limits;
            log(`closing connections: more than ${connections}, or ${heldBytes >> 20} MiB of bytes that nobody takes`);
        }
        this.changed = true;
    }

    /** Counts a client that has had all of its `first`. */
    serve(): void {
        this.clients++;
        this.changed = true;
    }

    /** To be called once a second. Writes a report if something has changed, or if the last one is too old. */
    report(write: (line: string) => void, at = Date.now()): void {
        // The clock may be set back, and timers may be early by a millisecond.
        if (!this.changed && Math.abs(at - this.reportedAt) < heartbeatMs - 100) return;
        this.changed = false;
        this.reportedAt = at;
        const { since, pods, refused, clients } = this;
        const some = { ...(refused > 0 && { refused }), ...(clients > 0 && { clients }) };
        write(`${JSON.stringify({ at, since, pods, ...some } satisfies ProxyReport)}\n`);
    }
}

/** Writes a line for people to the pod's log, beside the reports. */
export function log(message: unknown): void {
    process.stderr.write(`${message instanceof Error ? (message.stack ?? message.message) : String(message)}\n`);
}
