import type { OutputMap } from "@pulumi/pulumi/automation";
import { randomBytes } from "node:crypto";
import { styleText } from "node:util";
import { allowedContext, type AllowedContext } from "../components/cluster/guard";
import { settings } from "../components/configuration/settings";
import { findAgents, keyOf } from "../experiments/targets/agents";
import { loadKubeconfig } from "../shared/kubeconfig";
import { type Cluster, connect, orMissing } from "../shared/kubernetes";
import { preparePulumi } from "../sandbox/preparePulumi";
import { demoCluster } from "./cluster";
import { UpdateProgress } from "./progress";
import { BorrowedStack, project } from "./stack";

/** What the programs of this folder work with: a stack, and the cluster that it is in. */
export class Session {
    private constructor(
        readonly context: AllowedContext,
        readonly cluster: Cluster,
        private readonly stack: BorrowedStack,
        private readonly print: (line: string) => void,
    ) {}

    private changes: Record<string, string> = {};
    private interruption = new AbortController();

    /**
     * Gets all that is needed, from nothing if need be: cluster, Pulumi CLI, plugins, backend, stack. The stack `local` is
     * in whatever local cluster there is; another in the one that its file names.
     */
    static async open(name = "local", print: (line: string) => void = say): Promise<Session> {
        if (name !== "local") {
            const stack = await BorrowedStack.open(name, await preparePulumi(project));
            const context = allowedContext(loadKubeconfig(), await stack.setting("kube.context"));
            return new Session(context, connect(context.name), stack, print);
        }
        const context = await demoCluster(print);
        const stack = await BorrowedStack.open(name, await preparePulumi(project));
        // Whatever the stack's file names: what is shown is the cluster that was just found.
        await stack.set({ "kube.context": context.name });
        const cluster = connect(context.name);
        if (await wantsKey(stack)) await stack.setSecret("agent.key", await localAgentKey(cluster, (await stack.setting("namespace")) ?? settings.namespace.default!));
        return new Session(context, cluster, stack, print);
    }

    /** One stack update, told as it goes. Settings stay for the updates after it. */
    async up(changes: Record<string, string> = {}): Promise<OutputMap> {
        Object.assign(this.changes, changes);
        await this.stack.set(changes);
        const progress = new UpdateProgress(this.print);
        try {
            const { outputs } = await this.stack.up(progress.onEvent, { refresh: await this.shopIsGone(), signal: this.interruption.signal });
            if (progress.changes === 0) this.print("  ✔ nothing had to be changed");
            return outputs;
        } finally {
            progress.end();
        }
    }

    /**
     * Whether the cluster has nothing of the shop, having been made anew, say: then the engine has to look what there is.
     * Only then, since after a look it may bring a Deployment up to date and wait for its pods, which cannot get ready as
     * long as they are attacked.
     */
    private async shopIsGone(): Promise<boolean> {
        const name = this.changes.namespace ?? (await this.setting("namespace")) ?? settings.namespace.default!;
        return (await orMissing(this.cluster.core.readNamespace({ name }))) === undefined;
    }

    /** A setting of the stack's file; undefined where it has none of that key. */
    setting(key: string): Promise<string | undefined> {
        return this.stack.setting(key);
    }

    /** Cancels the update that runs, if one does; the next one can be begun at once. */
    cancel(): void {
        this.interruption.abort();
        this.interruption = new AbortController();
    }

    close(): void {
        this.stack.close();
    }
}

/** Whether a stack's agent can do with any key, and has none. A vendor's needs the platform's. */
async function wantsKey(stack: BorrowedStack): Promise<boolean> {
    const install = (await stack.setting("agent.install")) ?? settings["agent.install"].default;
    return install === "builtin" && (await stack.setting("agent.key")) === undefined;
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
    const message = error instanceof Error ? error.message : String(error);
    const diagnostics = /Diagnostics:\n([\s\S]*?)(?:\n\n(?:Outputs|Resources|Policies)|\n\s*stderr:|$)/.exec(message)?.[1];
    return (diagnostics ?? message).trim();
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
