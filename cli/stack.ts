import {
    type EngineEvent,
    LocalWorkspace,
    type OutputMap,
    type PreviewResult,
    type PulumiCommand,
    type PulumiFn,
    Stack,
    StackNotFoundError,
} from "@pulumi/pulumi/automation";
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { releaseStaleLocks } from "../shared/stackLock";
import { StackFile } from "./stackFile";

export const project = join(__dirname, "..");

/** Loaded only where an update is made. */
const stackProgram = () => require("../index") as typeof import("../index");

/** The stack's program, for this very process. Its debug messages, each a call to the engine, nobody sees here. */
const inlineProgram: PulumiFn = async () => {
    Object.assign(require("@pulumi/pulumi/log"), { debug: async () => undefined });
    return stackProgram()();
};

/**
 * A stack of this project whose file is never written: settings that a run needs go into a copy of it, which the
 * engine is given instead.
 */
export class BorrowedStack {
    private constructor(
        private readonly stack: Stack,
        private readonly pulumi: PulumiCommand,
        private readonly copy: string,
        private readonly scratch: string,
    ) {}

    /**
     * Opens a stack, and makes it where the backend has none of that name.
     *
     * @param inline whether the stack's program runs in this very process, which spares each update a second. @default the
     * engine starts it
     */
    static async open(name: string, pulumiCommand: PulumiCommand, { inline = false } = {}): Promise<BorrowedStack> {
        const scratch = mkdtempSync(join(tmpdir(), "chaos-shop-"));
        const copy = join(scratch, "stack.yaml");
        const original = join(project, `Pulumi.${name}.yaml`);
        copyFileSync(join(project, "Pulumi.yaml"), join(scratch, "Pulumi.yaml"));
        if (existsSync(original)) copyFileSync(original, copy);
        // Go collects garbage whenever there is as much again: with the engine, which makes all of its state anew for each
        // resource, that is a tenth of an update.
        const envVars = { GOGC: process.env.GOGC ?? "400" };
        const workspace = await LocalWorkspace.create({
            workDir: project,
            pulumiCommand,
            program: inline ? inlineProgram : undefined,
            envVars,
        });
        const select = () => Stack.select(name, workspace);
        const selecting = select();
        // While the CLI looks for the stack.
        if (inline) stackProgram();
        const stack = await selecting.catch(async (error: unknown) => {
            if (!(error instanceof StackNotFoundError)) throw error;
            // `pulumi stack init` writes a salt into the stack's file: it is run where that is not the project's.
            await LocalWorkspace.createStack({ stackName: name, workDir: scratch }, { pulumiCommand });
            return select();
        });
        // After each update the library has the CLI started three times, for a second, for outputs and history that hardly
        // anybody wants.
        stack.outputs = async () => ({});
        stack.info = async () => undefined;
        return new BorrowedStack(stack, pulumiCommand, copy, scratch);
    }

    /** Settings for the commands that follow. Undefined leaves one to its default. */
    set(settings: Record<string, string | undefined>): void {
        new StackFile(this.copy).set(settings);
    }

    /** Sets a secret. It goes by standard input: what a process was started with, everybody may read. */
    async setSecret(key: string, value: string): Promise<void> {
        const command = [
            "config",
            "set",
            "--secret",
            key,
            "--stack",
            this.stack.name,
            "--config-file",
            this.copy,
            "--non-interactive",
        ];
        const call = promisify(execFile)(this.pulumi.command, command, { cwd: project });
        call.child.stdin!.end(value);
        await call;
    }

    /** What is set, secrets left out. */
    get settings(): Record<string, string> {
        return new StackFile(this.copy).plain;
    }

    /** Whether something is set, be it a secret. */
    has(key: string): boolean {
        return new StackFile(this.copy).has(key);
    }

    /**
     * An update. A lock that a killed one left is released first.
     *
     * @param refresh whether to look first what has become of the stack's resources in the cluster
     * @param signal cancels the update as Ctrl-C does: what is under way is finished, nothing else is begun
     * @param onOutput is told what `pulumi up` prints
     */
    async up(
        onEvent: (event: EngineEvent) => void,
        options: { refresh?: boolean; signal?: AbortSignal; onOutput?: (text: string) => void } = {},
    ): Promise<void> {
        releaseStaleLocks(this.stack.name);
        // To show secrets the engine would write a salt into the project's stack file.
        await this.stack.up({
            ...options,
            configFile: this.copy,
            onEvent,
            diff: options.onOutput !== undefined,
            color: "never",
            showSecrets: false,
        });
    }

    /** The stack's outputs; "[secret]" for those that are. */
    async outputs(): Promise<OutputMap> {
        const { stdout } = await promisify(execFile)(
            this.pulumi.command,
            ["stack", "output", "--json", "--stack", this.stack.name],
            { cwd: project },
        );
        const values = Object.entries(JSON.parse(stdout) as Record<string, unknown>);
        return Object.fromEntries(values.map(([name, value]) => [name, { value, secret: value === "[secret]" }]));
    }

    /** What an update would do. @param onOutput is told what `pulumi preview --diff` prints */
    preview(onEvent: (event: EngineEvent) => void, onOutput?: (text: string) => void): Promise<PreviewResult> {
        return this.stack.preview({
            configFile: this.copy,
            onEvent,
            onOutput,
            diff: onOutput !== undefined,
            color: "never",
        });
    }

    /** Removes all that the stack made, then the stack. @param onOutput is told what `pulumi destroy` prints */
    async destroy(onEvent?: (event: EngineEvent) => void, onOutput?: (text: string) => void): Promise<void> {
        await this.stack.destroy({ configFile: this.copy, onEvent, onOutput, color: "never", showSecrets: false });
        await this.stack.workspace.removeStack(this.stack.name, { preserveConfig: true });
    }

    /** The command line of an update, for a process of one's own. */
    upCommand(): { command: string; args: string[] } {
        const args = [
            "up",
            "--yes",
            "--skip-preview",
            "--stack",
            this.stack.name,
            "--config-file",
            this.copy,
            "--non-interactive",
            "--color",
            "never",
        ];
        return { command: this.pulumi.command, args };
    }

    /** What the engine keeps of the stack, secrets encrypted. */
    async state(): Promise<string> {
        const { stdout } = await promisify(execFile)(
            this.pulumi.command,
            ["stack", "export", "--stack", this.stack.name],
            { cwd: project, maxBuffer: 1 << 28 },
        );
        return stdout;
    }

    async cancel(): Promise<void> {
        await this.stack.cancel();
    }

    close(): void {
        rmSync(this.scratch, { recursive: true, force: true });
    }
}
