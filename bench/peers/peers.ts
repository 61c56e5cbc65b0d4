import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cluster } from "../../chaos/cluster/client";
import { resources } from "../../chaos/cluster/resources";
import { project } from "../../toolchain/bundle-cache";
import { runCommand } from "../../toolchain/run-command";
import { measureRounds, type Samples } from "../figure";
import { namespaces, type Session } from "../session";
import { secondsSince } from "../time";
import { Application } from "./application";
import { chaosToolkit, chaosToolkitExperiment } from "./chaos-toolkit";
import { peakMemory } from "./memory";

const timedRounds = 5;
const memoryRounds = 1;
const windowSeconds = 10;

/** How a tool is asked the question. */
interface Tool {
    name: string;
    run: Command;
    /** What must be done before the next run. */
    undo?: () => Promise<unknown>;
}

interface Command {
    command: string;
    args: readonly string[];
    cwd: string;
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

async function toolsFor(session: Session, { namespace, address }: Application): Promise<Tool[]> {
    const { context, scratch, say } = session;
    say("building the package");
    await runCommand("npm", ["run", "--workspace", "chaos", "prepack"], { cwd: project });
    const stack = await session.newStack("peers", join(project, "bench", "peers", "program"));
    const settings = { context, namespace, duration: `${windowSeconds}s`, reports: join(scratch, "reports") };
    await stack.set({ ...settings, enabled: "false" });
    await stack.up();
    const ours = async (name: string, ...options: string[]): Promise<Tool> => ({
        name,
        run: stack.command("up", "--yes", ...options),
        undo: async () => {
            await stack.set({ enabled: "false" });
            await stack.up();
            await stack.set({ enabled: "true" });
        },
    });
    await stack.set({ enabled: "true" });
    const chaos = await chaosToolkit(say);
    const cwd = join(scratch, "chaos-toolkit");
    mkdirSync(cwd, { recursive: true });
    const experiment = chaosToolkitExperiment(namespace, address, windowSeconds);
    writeFileSync(join(cwd, "experiment.json"), JSON.stringify(experiment));
    const continuously = ["--hypothesis-strategy", "continuously", "--hypothesis-frequency", "1"];
    const args = ["run", ...continuously, "--rollback-strategy", "always", "experiment.json"];
    return [
        await ours("ours", "--skip-preview"),
        await ours("ours with a preview"),
        ...(chaos === undefined ? [] : [{ name: "Chaos Toolkit", run: { command: chaos, args, cwd } }]),
    ];
}

/** Runs a tool to its end. @returns what it has printed */
async function runToEnd({ run }: Tool, begun?: (pid: number) => void): Promise<string> {
    const child = spawn(run.command, run.args, { cwd: run.cwd, stdio: ["ignore", "pipe", "pipe"] });
    begun?.(child.pid!);
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (printed += String(text)));
    await once(child, "exit");
    return printed;
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
    const printed = await runToEnd(tool);
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
    await runToEnd(tool, (pid) => {
        peak = peakMemory(pid, ended.signal);
    });
    ended.abort();
    return { memory: (await peak)! };
}
