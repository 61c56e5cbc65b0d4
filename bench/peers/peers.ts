import { join } from "node:path";
import type { Cluster } from "../../chaos/cluster/client";
import { resources } from "../../chaos/cluster/resources";
import { measureRounds, type Samples } from "../figure";
import { namespaces, type Session } from "../session";
import { secondsSince } from "../time";
import { Application } from "./application";
import { chaosToolkit, chaosToolkitExperiment, chaosToolkitRun } from "./chaos-toolkit";
import { type Command, runToEnd } from "./run-to-end";
import { peakMemory } from "./memory";
import { Ours } from "./ours";

const timedRounds = 5;
const memoryRounds = 1;
const windowSeconds = 10;

/** A tool's run that is measured. */
interface TimedRun {
    name: string;
    command: Command;
    /** What must be done before the next run. */
    undo?: () => Promise<unknown>;
}

/** What a person waits for in one run, in seconds. */
const times = ["bite", "whole", "undo"] as const;
/** The memory of all processes of a run, in MiB. */
const memory = ["memory"] as const;
export type Measure = (typeof times | typeof memory)[number];

/** Asks each tool the same question, in turns. @returns samples by `bite of ours`, and so on */
export async function measurePeers(session: Session): Promise<Samples> {
    const { cluster, context, say } = session;
    const application = await Application.install(cluster, context, namespaces.peers);
    const runs = await runsOf(session, application);
    const inTurns = <M extends Measure>(
        rounds: number,
        measures: readonly M[],
        measureRun: (run: TimedRun) => Promise<Record<M, number>>,
    ) =>
        measureRounds(rounds, { say }, async () => {
            const round: Record<string, number> = {};
            for (const run of runs) {
                const measured = await measureRun(run);
                for (const measure of measures) round[`${measure} of ${run.name}`] = measured[measure];
                await run.undo?.();
                await application.untilReached();
            }
            return round;
        });
    return {
        ...(await inTurns(timedRounds, times, (run) => timesOf(run, cluster, application))),
        // In runs of its own, because looking at the memory takes the processor from the run: 0.5 s until the bite.
        ...(await inTurns(memoryRounds, memory, memoryOf)),
    };
}

async function runsOf(session: Session, application: Application): Promise<TimedRun[]> {
    const { scratch, say } = session;
    const { namespace } = application;
    const url = `${await application.address()}/products`;
    const stack = await Ours.open(session, { namespace, duration: `${windowSeconds}s` });
    const bare = await Ours.open(session, { namespace, url, seconds: String(windowSeconds) }, "bare");
    await Promise.all([stack.enable(), bare.enable()]);
    const updateOf = (name: string, stack: Ours, ...options: string[]): TimedRun => ({
        name,
        command: stack.update(...options),
        undo: async () => {
            await stack.disable();
            await stack.enable();
        },
    });
    const chaos = await chaosToolkit(say);
    const experiment = chaosToolkitExperiment({ namespace, url, seconds: windowSeconds, selector: { app: "api" } });
    const cwd = join(scratch, "chaos-toolkit");
    return [
        updateOf("ours", stack, "--skip-preview"),
        updateOf("ours with a preview", stack),
        updateOf("bare Pulumi", bare, "--skip-preview"),
        ...(chaos === undefined ? [] : [{ name: "Chaos Toolkit", command: chaosToolkitRun(chaos, cwd, experiment) }]),
    ];
}

async function timesOf(
    { name, command }: TimedRun,
    cluster: Cluster,
    application: Application,
): Promise<Record<(typeof times)[number], number>> {
    const watching = new AbortController();
    let goneAt = Number.NaN;
    const onEvent = ({ type }: { type: string }) => {
        if (type === "DELETED" && Number.isNaN(goneAt)) goneAt = Date.now();
    };
    const policies = { namespace: application.namespace };
    // Rejects when it is ended.
    cluster.watch(resources.networkPolicy, policies, () => undefined, onEvent, watching.signal).catch(() => undefined);
    const [begunAt, begun] = [Date.now(), performance.now()];
    const { printed } = await runToEnd(command);
    const whole = secondsSince(begun) - windowSeconds;
    await application.untilReached();
    watching.abort();
    const changes = (await application.changes()).filter(({ at }) => at >= begunAt);
    const bitten = changes.find(({ works }) => !works);
    const back = changes.findLast(({ works }) => works);
    if (bitten === undefined || back === undefined || Number.isNaN(goneAt))
        throw new Error(`front has not seen the attack of ${name}: ${printed.slice(0, 2_000)}`);
    return { bite: (bitten.at - begunAt) / 1_000, whole, undo: (back.at - goneAt) / 1_000 };
}

async function memoryOf({ command }: TimedRun): Promise<{ memory: number }> {
    const ended = new AbortController();
    let peak: Promise<number> | undefined;
    await runToEnd(command, (pid) => {
        peak = peakMemory(pid, ended.signal);
    });
    ended.abort();
    return { memory: (await peak)! };
}
