import { setTimeout as sleep } from "node:timers/promises";
import { labels, selectorOf } from "../../../cluster/labels";
import { resources } from "../../../cluster/resources";
import type { V1ContainerStatus } from "../../../values/kubernetes-types";
import { exitCodeOf, isKilledForMemory, runningIdOf } from "../../../values/kubernetes-rules";
import { onOneLine } from "../../../values/quoted";
import type { BeginInJob, JobContext, JobPart } from "../job-part";
import { triedIn } from "../tried";
import { Lateness } from "../lateness";
import { filesIn, type Rate, rateBetween, type Reading, readingOf } from "./readings";
import { onlyReads, programOf } from "./stress-programs";
import { isCpuTaken, isMemoryTaken, nextBytes, type Taken, takenOf, whyChanged, workersFor } from "./taken";
import type { UsageReport } from "./usage";
import { namesOf, type Stress, type StressTarget } from "./stress-target";

/** Between two looks whether the attack may act. */
const lookMs = 500;
/** While the API server does not say whether it may, the last answer counts this long: no program is renewed then. */
const unknownMs = 5_000;
/** Between two lines to a program. */
const lineMs = 1_000;
/** A program that does not answer for so long has ended by itself, or lost its connection. */
const silentMs = 10_000;
/** It ends at once when it is told to; its connection is closed then. */
const leaveMs = 2_000;
/** CPU is measured over so many seconds: a program's share varies from one to the next. */
const rateSeconds = 3;
/** What is not seen for so long does not show the attack. A busy node may give a program little for a moment. */
const unseenMs = 6_000;
/** That a container cannot be stressed is reported after this time. */
const maxLateMs = 5_000;
const reportMs = 5_000;
/** A container may print anything: no report has so many characters. */
const longestReport = 200_000;
/** So long after its end a container's status has it. */
const stateMs = 3_000;

/**
 * Has programs stress the targets' containers, and ends them: each is a command that runs in its container as long as
 * this process renews it, over the connection by which it was started. The end of that is the end of the program.
 */
export const stressInJob: BeginInJob<Stress> = (stress, context) => {
    const stressed: Stressed[] = [];
    void stressWhileAllowed(stress, context, stressed);
    const named = (isIn: (one: Stressed) => readonly string[]) => stressed.flatMap(isIn);
    return {
        get last() {
            return { open: named((one) => one.missing), closed: named((one) => one.showing) };
        },
    } satisfies JobPart;
};

async function stressWhileAllowed(stress: Stress, context: JobContext, stressed: Stressed[]): Promise<void> {
    const { ending, permission, log } = context;
    const over = new AbortController();
    ending.addEventListener("abort", () => over.abort());
    let grantedAt = -Infinity;
    const mayGoOn = () => !over.signal.aborted && performance.now() - grantedAt < unknownMs;
    for (; !over.signal.aborted; await sleep(lookMs)) {
        const may = await permission().catch(log);
        if (may === "granted") grantedAt = performance.now();
        else if (may !== undefined && stressed.length > 0) over.abort();
        if (may !== "granted" || stressed.length > 0) continue;
        const targets = await triedIn<"stress">(context).catch(log);
        for (const target of targets ?? []) stressed.push(new Stressed(stress, target, context, over.signal, mayGoOn));
        for (const one of stressed) void one.runAgainAndAgain();
    }
}

/** A container that is stressed. */
class Stressed {
    /** The readings of the last seconds. */
    private readings: Reading[] = [];
    /** How many bytes the last line has said. The next reading shows them. */
    private held = 0;
    /** When it was last seen that the CPU, or the memory, is taken, in milliseconds of `performance.now()`. */
    private readonly seenAt = new Map<string, number>();
    /**
     * What is not taken at the moment, and was not seen since: its program has ended, or an earlier pod of the Job has
     * run that.
     */
    private readonly interrupted: Set<string>;
    private begunAt?: number;
    /** The first reading with all that is taken. */
    private from?: Reading;
    private mostBytes = 0;
    private reportedAt = -Infinity;
    private readonly lateness: Lateness;
    private isStressing = false;
    /** What was killed for memory, if that was wanted: then the attack has done what it was to do. */
    private killed?: UsageReport["killed"];

    constructor(
        private readonly stress: Stress,
        private readonly target: StressTarget,
        private readonly context: JobContext,
        private readonly over: AbortSignal,
        private readonly mayGoOn: () => boolean,
    ) {
        this.lateness = new Lateness(context, `the load in ${target.pod}/${target.container}`, maxLateMs);
        this.interrupted = new Set(stress.untilKilled ? [] : this.names);
    }

    private get names(): string[] {
        return Object.values(namesOf(this.stress, this.target));
    }

    get showing(): string[] {
        if (this.killed) return this.names;
        const isRecent = (name: string) => performance.now() - (this.seenAt.get(name) ?? -Infinity) < lineMs * 3;
        return this.names.filter((name) => !this.interrupted.has(name) && isRecent(name));
    }

    /** What does not show, for so long that it is not a moment's. */
    get missing(): string[] {
        if (this.killed) return [];
        const since = (name: string) => this.seenAt.get(name) ?? this.begunAt;
        const isMissing = (name: string) => performance.now() - (since(name) ?? Infinity) > unseenMs;
        return this.names.filter((name) => this.interrupted.has(name) || isMissing(name));
    }

    async runAgainAndAgain(): Promise<void> {
        const { over, context, target } = this;
        for (; !over.aborted; await sleep(lineMs)) {
            if (!this.mayGoOn()) continue;
            const began = Date.now();
            const ended = await this.run().catch((error: unknown): Ended => ({ why: (error as Error).message }));
            if (this.stress.untilKilled && !over.aborted) await this.seeKilled(ended);
            if (over.aborted || this.killed) return;
            const problem = onOneLine(ended.why);
            context.log(`the load in ${target.pod}/${target.container} ended: ${problem}`);
            this.fails(began, problem);
        }
    }

    private fails(at: number, problem: string): void {
        for (const name of this.names) this.interrupted.add(name);
        this.lateness.due(this.isStressing ? Date.now() : at, problem);
        this.isStressing = false;
    }

    /** Has a program stress the container. @throws Error if that is not possible any more */
    private async run(): Promise<Ended> {
        const { context, target, over, stress } = this;
        await this.requireThere();
        this.readings = [];
        this.held = 0;
        const closing = new AbortController();
        const taken = takenOf(stress, target.before);
        const { lastSeconds } = stress;
        const command = programOf(target.tool, {
            ...workersFor(taken, target.before),
            lastSeconds,
            files: target.files,
        });
        let send: ((text: string) => void) | undefined;
        let [output, errors, lost] = ["", "", ""];
        let isChosen = false;
        let mistaken: Error | undefined;
        let answeredAt = performance.now();
        let timer: NodeJS.Timeout | undefined;
        const renew = () => {
            if (isChosen && this.mayGoOn()) send?.(`${this.held}\n`);
            else timer = setTimeout(renew, lineMs);
        };
        const onOutput = (printed: Buffer, isError: boolean) => {
            if (isError) {
                errors = (errors + printed.toString()).slice(-200);
                return;
            }
            output += printed.toString();
            for (let end; (end = output.indexOf("\n.\n")) >= 0; output = output.slice(end + 3)) {
                answeredAt = performance.now();
                const reading = readingOf(filesIn(output.slice(0, end + 1)));
                clearTimeout(timer);
                const changed = reading && whyChanged(stress, target.before, reading);
                if (!changed) this.read(taken, reading);
                else if (!mistaken) {
                    mistaken = new Error(changed);
                    leave();
                }
                if (mistaken) continue;
                timer = setTimeout(renew, this.readings.length > 1 ? lineMs : 0);
            }
            lost = /^!(.*)$/m.exec(output)?.[1] ?? lost;
            if (output.length > longestReport) closing.abort();
        };
        const leave = () => {
            send?.("end\n");
            setTimeout(() => closing.abort(), leaveMs);
        };
        const watching = setInterval(() => performance.now() - answeredAt > silentMs && closing.abort(), lineMs);
        over.addEventListener("abort", leave);
        try {
            const status = await context.exec(
                { ...target, namespace: context.namespace },
                command,
                onOutput,
                closing.signal,
                (open) => {
                    send = open;
                    if (over.aborted) return leave();
                    // The command was sent to a pod of that name. It runs in this container for as long as it lasts.
                    this.requireThere().then(
                        () => (isChosen = true),
                        (error: unknown) => {
                            mistaken = error as Error;
                            leave();
                        },
                    );
                },
            );
            if (mistaken) throw mistaken;
            return {
                why: whyEnded(lost, errors, status.message),
                wasKilled: [lost, exitCodeOf(status)].some(isKilled),
            };
        } finally {
            over.removeEventListener("abort", leave);
            clearInterval(watching);
            clearTimeout(timer);
            this.report(taken, true);
        }
    }

    /** Finds out whether the container was killed for memory, or the program alone. */
    private async seeKilled(ended: Ended): Promise<void> {
        const { target, context } = this;
        // The kubelet says a moment later that a container was killed.
        await sleep(stateMs);
        const container = await this.container().catch(context.log);
        if (container === undefined) return;
        if (isKilledForMemory(container, target.containerId)) this.killed = "container";
        else if (ended.wasKilled && runningIdOf(container) === target.containerId) {
            const kills = await this.kills().catch(context.log);
            if (kills === undefined) ended.why += "; its cgroup does not say whether for memory";
            else if (kills > (target.before.memory.kills ?? 0)) this.killed = "program";
        }
        if (this.killed) this.report(takenOf(this.stress, target.before), true);
    }

    /**
     * How many processes of the container were killed for memory so far. The program may have said nothing since one of
     * its own was: another one reads that, and ends.
     */
    private async kills(): Promise<number | undefined> {
        const { context, target, over } = this;
        const command = programOf(target.tool, { ...onlyReads, files: target.files });
        let output = "";
        await context.exec(
            { ...target, namespace: context.namespace },
            command,
            (printed, isError) => {
                if (!isError && output.length < longestReport) output += printed.toString();
            },
            AbortSignal.any([over, AbortSignal.timeout(silentMs)]),
            (send) => send("end\n"),
        );
        return readingOf(filesIn(output))?.memory.kills;
    }

    /** @throws Error if the container is not the one any more that the run has chosen */
    private async requireThere(): Promise<void> {
        const container = await this.container();
        if (container?.containerID !== this.target.containerId) throw new Error("the container was restarted");
    }

    /** Its state. @throws Error if the pod is not there any more as the run has chosen it */
    private async container(): Promise<V1ContainerStatus | undefined> {
        const { context, target } = this;
        const labelSelector = selectorOf({ [labels.target]: context.label });
        for await (const { metadata, status } of context.api.list(resources.pod, {
            namespace: context.namespace,
            labelSelector,
        })) {
            if (metadata?.uid !== target.uid) continue;
            return status?.containerStatuses?.find(({ name }) => name === target.container);
        }
        throw new Error("the pod is gone, or has lost its label");
    }

    /** Takes a reading in, and decides how much memory is held next. */
    private read(taken: Taken, reading: Reading | undefined): void {
        if (reading === undefined) return;
        this.readings.push(reading);
        this.mostBytes = Math.max(this.mostBytes, reading.memory.used);
        // The first one is of before the attack.
        const [first] = this.readings;
        if (this.readings.length === 1) {
            this.isStressing = true;
            this.lateness.due(Date.now(), undefined);
            this.begunAt ??= performance.now();
        }
        while (this.readings.length > 2 && reading.at - this.readings[1]!.at >= rateSeconds) this.readings.shift();
        const { cpu, memory } = namesOf(this.stress, this.target);
        const isMeasured = reading.at - first!.at > lineMs / 1_000;
        if (cpu !== undefined && isMeasured && isCpuTaken(taken, this.rate(), reading)) this.seen(cpu);
        if (memory !== undefined) {
            if (isMemoryTaken(taken, this.held, reading)) this.seen(memory);
            this.held = nextBytes(taken, this.held, reading, this.target.tool);
        }
        if (this.names.every((name) => this.seenAt.has(name))) this.from ??= reading;
        this.report(taken);
    }

    private rate(): Rate {
        return rateBetween(this.readings[0]!, this.readings.at(-1)!);
    }

    private seen(name: string): void {
        this.seenAt.set(name, performance.now());
        this.interrupted.delete(name);
        this.lateness.due(Date.now(), undefined);
    }

    /** Reports what the container uses: now and then, and at the end. */
    private report(taken: Taken, isLast = false): void {
        const now = this.readings.at(-1);
        const { target, context, killed } = this;
        const from = this.from ?? (killed && this.readings[0]);
        const isDue = isLast || performance.now() - this.reportedAt >= reportMs;
        if (now === undefined || from === undefined || now === from || !isDue) return;
        this.reportedAt = performance.now();
        const most = { ...now, memory: { ...now.memory, used: this.mostBytes } };
        const report = usageReport(target, taken, this.held, from, most);
        context.used({ at: Date.now(), ...report, ...(killed && { killed }) });
    }
}

/** How a program has ended. */
interface Ended {
    why: string;
    /** Whether it, or a process of it, was killed. */
    wasKilled?: boolean;
}

/** Perl and Python give a wait status, shells and runtimes 128 more than the signal. */
const isKilled = (status: string | undefined) => status === "9" || status === "137";

function whyEnded(lost: string, errors: string, message = ""): string {
    if (isKilled(lost)) return "a process of its program was killed";
    return lost || errors.trim() || message || "its program has ended";
}

function usageReport(
    { pod, container, tool, before, first }: StressTarget,
    taken: Taken,
    held: number,
    from: Reading,
    now: Reading,
): UsageReport {
    const { cpu, memory } = now;
    return {
        pod,
        container,
        tool,
        cgroup: now.version,
        limit: {
            ...(cpu.limit !== undefined && { cores: cpu.limit }),
            ...(memory.limit !== undefined && { bytes: memory.limit }),
        },
        before: useOf(rateBetween(first, before), before),
        under: useOf(rateBetween(from, now), now),
        ...(taken.bytes !== undefined && { held }),
    };
}

const rounded = (some: number) => Number(some.toFixed(3));

function useOf({ cores, throttled, nodeBusy }: Rate, { memory, node }: Reading): UsageReport["before"] {
    return {
        cores: rounded(cores),
        throttled: rounded(throttled),
        bytes: memory.used,
        node: {
            ...(nodeBusy !== undefined && { busy: rounded(nodeBusy) }),
            ...(node.available !== undefined && { available: node.available }),
        },
    };
}
