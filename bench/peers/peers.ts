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

interface Tool {
    name: string;
    run: Command;
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
    const tools = await toolsFor(session, application);
    const inTurns = <M extends Measure>(
        rounds: number,
        measures: readonly M[],
        measureRun: (tool: Tool) => Promise<Record<M, number>>,
    ) =>
        measureRounds(rounds, { say }, async () => {
            const round: Record<string, number> = {};
            for (const tool of tools) {
                const measured = await measureRun(tool);
                for (const measure of measures) round[`${measure} of ${tool.name}`] = measured[measure];
                await tool.undo?.();
                await application.untilReached();
            }
            return round;
        });
    return {
        ...(await inTurns(timedRounds, times, (tool) => timesOf(tool, cluster, application))),
        // In runs of its own, because looking at the memory takes the processor from the run: 0.5 s until the bite.
        ...(await inTurns(memoryRounds, memory, memoryOf)),
    };
}

async function toolsFor(session: Session, application: Application): Promise<Tool[]> {
    const { scratch, say } = session;
    const { namespace } = application;
    const stack = await Ours.open(session, { namespace, duration: `${windowSeconds}s` });
    await stack.enable();
    const ours = (name: string, ...options: string[]): Tool => ({
        name,
        run: stack.update(...options),
        undo: async () => {
            await stack.disable();
            await stack.enable();
        },
    });
    const chaos = await chaosToolkit(say);
    const url = `${await application.address()}/products`;
    const experiment = chaosToolkitExperiment({ namespace, url, seconds: windowSeconds, selector: { app: "api" } });
    const cwd = join(scratch, "chaos-toolkit");
    return [
        ours("ours", "--skip-preview"),
        ours("ours with a preview"),
        ...(chaos === undefined ? [] : [{ name: "Chaos Toolkit", run: chaosToolkitRun(chaos, cwd, experiment) }]),
    ];
}

async function timesOf(
    tool: Tool,
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
    const { printed } = await runToEnd(tool.run);
    const whole = secondsSince(begun) - windowSeconds;
    await application.untilReached();
    watching.abort();
    const changes = (await application.changes()).filter(({ at }) => at >= begunAt);
    const bitten = changes.find(({ works }) => !works);
    const back = changes.findLast(({ works }) => works);
    if (bitten === undefined || back === undefined || Number.isNaN(goneAt))
        throw new Error(`front has not seen the attack of ${tool.name}: ${printed.slice(0, 2_000)}`);
    return { bite: (bitten.at - begunAt) / 1_000, whole, undo: (back.at - goneAt) / 1_000 };
}

async function memoryOf(tool: Tool): Promise<{ memory: number }> {
    const ended = new AbortController();
    let peak: Promise<number> | undefined;
    await runToEnd(tool.run, (pid) => {
        peak = peakMemory(pid, ended.signal);
    });
    ended.abort();
    return { memory: (await peak)! };
}
