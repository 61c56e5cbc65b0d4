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

const rounds = 5;
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

/** What a person waits for in one run, in seconds, and the memory of all its processes, in MiB. */
const measures = ["bite", "whole", "undo", "memory"] as const;
export type Measure = (typeof measures)[number];

/** Asks each tool the same question, in turns. @returns samples by `bite of ours`, and so on */
export async function measurePeers(session: Session): Promise<Samples> {
    const { cluster, context, say } = session;
    const application = await Application.install(cluster, context, namespaces.peers);
    const tools = await toolsFor(session, application);
    return measureRounds(rounds, { say }, async () => {
        const round: Record<string, number> = {};
        for (const tool of tools) {
            const measured = await measureRun(tool, cluster, application);
            for (const measure of measures) round[`${measure} of ${tool.name}`] = measured[measure];
            await tool.undo?.();
            await application.untilReached();
        }
        return round;
    });
}

async function toolsFor(session: Session, { namespace, address }: Application): Promise<Tool[]> {
    const { context, scratch, say } = session;
    say("building the package");
    await runCommand("npm", ["run", "--workspace", "chaos", "prepack"], { cwd: project });
    const stack = await session.newStack("peers", join(project, "bench", "peers", "program"));
    const settings = { context, namespace, duration: `${windowSeconds}s` };
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

async function measureRun(
    { name, run }: Tool,
    cluster: Cluster,
    application: Application,
): Promise<Record<Measure, number>> {
    const watching = new AbortController();
    let goneAt = Number.NaN;
    const onEvent = ({ type }: { type: string }) => {
        if (type === "DELETED" && Number.isNaN(goneAt)) goneAt = Date.now();
    };
    const policies = { namespace: application.namespace };
    // Rejects when it is ended.
    cluster.watch(resources.networkPolicy, policies, () => undefined, onEvent, watching.signal).catch(() => undefined);
    const [begunAt, begun] = [Date.now(), performance.now()];
    const child = spawn(run.command, run.args, { cwd: run.cwd, stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (printed += String(text)));
    const ended = new AbortController();
    const memory = peakMemory(child.pid!, ended.signal);
    await once(child, "exit");
    const whole = secondsSince(begun) - windowSeconds;
    ended.abort();
    await application.untilReached();
    watching.abort();
    const changes = (await application.changes()).filter(({ at }) => at >= begunAt);
    const bitten = changes.find(({ works }) => !works);
    const back = changes.findLast(({ works }) => works);
    if (bitten === undefined || back === undefined)
        throw new Error(`front has not seen the attack of ${name}: ${printed.slice(0, 2_000)}`);
    return {
        bite: (bitten.at - begunAt) / 1_000,
        whole,
        undo: (back.at - goneAt) / 1_000,
        memory: await memory,
    };
}
