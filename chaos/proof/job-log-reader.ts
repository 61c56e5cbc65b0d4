import { type Cluster, ignoreNotFound } from "../cluster/client";
import { parseJson } from "../values/json";
import {
    type ConnectionReport,
    deadlineContainer,
    type KeptState,
    type KillReport,
    type LogLine,
    type Missed,
    type RefusedEviction,
    type UsageLine,
} from "../witness/protocol";

const keptStates = ["answering", "silent", "lost", "ended"] as const satisfies KeptState[];

/** The kubelet's clock and this machine's run apart, and lines take a moment to arrive. */
const overlapSeconds = 2;

/** All that the pods of a deadline Job have reported, in order of time. */
export interface JobReports {
    reports: ConnectionReport[];
    kills: KillReport[];
    refused: RefusedEviction[];
    missed: Missed[];
    usage: UsageLine[];
}

/** What the pods of a deadline Job have logged. Each read asks only for what is new, and adds it to what is known. */
export class JobLogReader {
    private readonly pods = new Map<string, PodLog>();

    constructor(
        private readonly cluster: Cluster,
        private readonly namespace: string,
    ) {}

    /** @param pods names of the Job's pods whose container has started @returns all reports, in order of time */
    async read(pods: readonly string[]): Promise<JobReports> {
        await Promise.all(pods.map((pod) => this.readPod(pod)));
        const logs = [...this.pods.values()];
        const inOrder = <T extends { at: number }>(items: T[]) => items.sort((a, b) => a.at - b.at);
        return {
            reports: inOrder(logs.flatMap(({ reports }) => reports)),
            kills: inOrder(logs.flatMap(({ kills }) => kills)),
            refused: inOrder(logs.flatMap(({ refused }) => refused)),
            missed: inOrder(logs.flatMap(({ missed }) => missed)),
            usage: inOrder(logs.flatMap(({ usage }) => usage)),
        };
    }

    private async readPod(name: string): Promise<void> {
        const log = this.pods.get(name) ?? new PodLog();
        this.pods.set(name, log);
        const text = async (sinceSeconds?: number) => {
            const log = this.cluster.log(
                { namespace: this.namespace, name },
                { container: deadlineContainer, sinceSeconds },
            );
            return (await ignoreNotFound(log)) ?? "";
        };
        const now = Date.now();
        const sinceSeconds =
            log.readAt === undefined ? undefined : Math.max(1, Math.ceil((now - log.readAt) / 1_000) + overlapSeconds);
        // Lines are missing if a clock was set, or this machine slept.
        const complete = log.add(await text(sinceSeconds));
        if (!complete && sinceSeconds !== undefined) log.add(await text());
        if (log.begun !== undefined) log.readAt = now;
    }
}

const isTexts = (value: unknown) => Array.isArray(value) && value.every((one) => typeof one === "string");

/** A line of the log. Undefined if it is none: the container may print something else there. */
function readLine(text: string): LogLine | undefined {
    if (!text.startsWith("{")) return undefined;
    const line = (parseJson(text) ?? {}) as Partial<LogLine>;
    if ([line.begun, line.line, line.at].some((one) => !Number.isFinite(one))) return undefined;
    if (line.triedMs !== undefined && !(line.triedMs >= 0)) return undefined;
    const { more: _, ...lists } = line.changed ?? {};
    return Object.values(lists).every(isTexts) ? (line as LogLine) : undefined;
}

/** What one pod has logged, as far as it was read. */
class PodLog {
    readonly reports: ConnectionReport[] = [];
    readonly kills: KillReport[] = [];
    readonly refused: RefusedEviction[] = [];
    readonly missed: Missed[] = [];
    readonly usage: UsageLine[] = [];
    /** When the last read began, by this machine's clock. */
    readAt?: number;
    begun?: number;
    private nextLine = 0;
    private readonly accepted = new Map<string, boolean>();
    private readonly kept = new Map<string, KeptState>();
    /** Whether the look whose lines are being read has changed them. */
    private acceptedChanged = false;
    private keptChanged = false;

    /** Adds the lines that are not known yet. @returns whether none is missing before them */
    add(text: string): boolean {
        for (const line of text.split("\n")) {
            const read = readLine(line);
            if (read && !this.addLine(read)) return false;
        }
        return true;
    }

    private addLine({ begun, line, at, changed, triedMs, killed, refused, missed, usage }: LogLine): boolean {
        if (begun !== this.begun) {
            // The container was restarted. Its process knows nothing of the one before.
            if (line !== 0) return false;
            this.begun = begun;
            this.nextLine = 0;
            this.accepted.clear();
            this.kept.clear();
            this.acceptedChanged = this.keptChanged = true;
        }
        if (line < this.nextLine) return true;
        if (line > this.nextLine) return false;
        this.nextLine++;
        if (killed) this.kills.push({ at, killed });
        if (refused) this.refused.push({ at, refused });
        if (missed) this.missed.push({ at, missed });
        if (usage) this.usage.push({ at, usage });
        if (changed) this.addChange(at, changed, triedMs);
        return true;
    }

    private addChange(at: number, changed: NonNullable<LogLine["changed"]>, triedMs?: number): void {
        const { open = [], closed = [], gone = [], unkept = [], more } = changed;
        for (const endpoint of open) this.accepted.set(endpoint, true);
        for (const endpoint of closed) this.accepted.set(endpoint, false);
        for (const endpoint of gone) this.accepted.delete(endpoint);
        for (const state of keptStates) for (const name of changed[state] ?? []) this.kept.set(name, state);
        for (const name of unkept) this.kept.delete(name);
        this.acceptedChanged ||= open.length + closed.length + gone.length > 0;
        this.keptChanged ||= unkept.length > 0 || keptStates.some((state) => changed[state] !== undefined);
        if (more) return;
        // Reports share what has not changed.
        const before = this.reports.at(-1);
        const those = (accepted: boolean) =>
            [...this.accepted].flatMap(([name, is]) => (is === accepted ? [name] : []));
        const found = before && !this.acceptedChanged ? before : { open: those(true), closed: those(false) };
        const kept = before && !this.keptChanged ? before.kept : Object.fromEntries(this.kept);
        this.reports.push({ ...found, at, triedMs, kept });
        this.acceptedChanged = this.keptChanged = false;
    }
}
