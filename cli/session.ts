import type { OutputMap } from "@pulumi/pulumi/automation";
import { randomBytes } from "node:crypto";
import { styleText } from "node:util";
import { allowedContext } from "../components/cluster/guard";
import { settings } from "../components/configuration/settings";
import { findAgents, keyOf } from "../experiments/targets/agents";
import { loadKubeconfig } from "../shared/kubeconfig";
import { type Cluster, connect, orMissing, reasonOf } from "../shared/kubernetes";
import { exportsOf } from "../sandbox/node/env";
import { preparePulumi } from "../sandbox/preparePulumi";
import { pulumiEnvironment } from "../sandbox/pulumi/environment";
import { demoCluster } from "./cluster";
import { UpdateProgress } from "./progress";
import { BorrowedStack, project } from "./stack";

/** What the programs of this folder work with: a stack, and the cluster that it is in. */
export class Session {
    private constructor(
        readonly cluster: Cluster,
        private readonly stack: BorrowedStack,
        private readonly print: (line: string) => void,
        /** The commands that have a shell use the same Pulumi and the same cluster. */
        readonly shellSetup: readonly string[],
    ) {}

    private interruption = new AbortController();
    private engineRuns = false;

    /**
     * Gets all that is needed, from nothing if need be: cluster, Pulumi CLI, plugins, backend, stack. The stack `local` is
     * in whatever local cluster there is; another in the one that its file names.
     */
    static async open(name = "local", print: (line: string) => void = say): Promise<Session> {
        // The stack `local` is in the cluster that is found, whatever its file names.
        const found = name === "local" ? await demoCluster(print) : undefined;
        const missing = pulumiEnvironment(project);
        const stack = await BorrowedStack.open(name, await preparePulumi(project), { inline: true });
        if (found) stack.set({ "kube.context": found.name });
        const context = found ?? allowedContext(loadKubeconfig(), stack.settings["kube.context"]);
        const cluster = connect(context.name);
        if (found && wantsKey(stack))
            await stack.setSecret("agent.key", await localAgentKey(cluster, namespaceOf(stack)));
        const shellSetup = context.local === "sandbox" ? ['eval "$(npm run -s sandbox -- env)"'] : exportsOf(missing);
        return new Session(cluster, stack, print, shellSetup);
    }

    /** One stack update, told as it goes. Settings stay for the updates after it. */
    async up(changes: Record<string, string> = {}): Promise<void> {
        const { signal } = this.interruption;
        this.stack.set(changes);
        const progress = new UpdateProgress(this.print);
        try {
            const refresh = await this.shopIsGone();
            signal.throwIfAborted();
            this.engineRuns = true;
            await this.stack.up(progress.onEvent, { refresh, signal });
            if (progress.changes === 0) this.print("  ✔ nothing had to be changed");
        } finally {
            this.engineRuns = false;
            progress.end();
        }
    }

    /**
     * Whether the cluster has nothing of the shop, having been made anew, say: then the engine has to look what there is.
     * Only then, since after a look it may bring a Deployment up to date and wait for its pods, which cannot get ready as
     * long as they are attacked.
     */
    private async shopIsGone(): Promise<boolean> {
        return (await orMissing(this.cluster.core.readNamespace({ name: namespaceOf(this.stack) }))) === undefined;
    }

    /** What the last update put out. */
    outputs(): Promise<OutputMap> {
        return this.stack.outputs();
    }

    /** What is set, by the stack's file or since; undefined where the default holds. */
    setting(key: string): string | undefined {
        return this.stack.settings[key];
    }

    /** Cancels the update that runs, if one does; the next one can be begun at once. @param engineKnows whether the engine, where it runs, was told the same */
    cancel({ engineKnows }: { engineKnows: boolean }): void {
        if (!engineKnows || !this.engineRuns) this.interruption.abort();
        this.interruption = new AbortController();
    }

    close(): void {
        this.stack.close();
    }
}

const namespaceOf = (stack: BorrowedStack) => stack.settings.namespace ?? settings.namespace.default!;

/** Whether a stack's agent can do with any key, and has none. A vendor's needs the platform's. */
function wantsKey(stack: BorrowedStack): boolean {
    const install = stack.settings["agent.install"] ?? settings["agent.install"].default;
    return install === "builtin" && !stack.has("agent.key");
}

/**
 * The key of the shop's agent where it is there, else a new one. It is kept in the cluster alone, where the agent needs
 * it, so that it is the same in the next run and in no file.
 */
async function localAgentKey(cluster: Cluster, shop: string): Promise<string> {
    const agents = await findAgents(cluster, shop);
    return (agents && (await keyOf(cluster, agents))) ?? randomBytes(32).toString("hex");
}

export function say(line = ""): void {
    console.log(line);
}

export function heading(text: string): void {
    say(`\n${styleText("bold", text)}`);
}

/** A command as the user would type it. */
export const typed = (command: string) => styleText("cyan", `$ ${command}`);

/** What went wrong, without the trace and the engine's own noise. */
export function plainError(error: unknown): string {
    const message = reasonOf(error);
    const diagnostics = /Diagnostics:\n([\s\S]*?)(?:\n\n(?:Outputs|Resources|Policies)|\n\s*stderr:|$)/.exec(
        message,
    )?.[1];
    // What fails in a program of this very process is told twice, by the SDK and by the engine.
    const told = new Set((diagnostics ?? message).split(/\n(?=\s+error: )/));
    return [...told].join("\n").trim();
}

/** Runs a program of this folder: its help where that is asked for, else its work, with what went wrong in plain words and exit code 1. */
export function runProgram(help: string, work: () => Promise<void>): void {
    if (process.argv.includes("--help") || process.argv.includes("-h")) {
        say(help);
        return;
    }
    work().catch((error: unknown) => {
        console.error(plainError(error));
        process.exitCode ||= 1;
    });
}
