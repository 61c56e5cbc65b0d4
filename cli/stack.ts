import {
    type EngineEvent,
    LocalWorkspace,
    type OutputMap,
    type PulumiCommand,
    type PulumiFn,
    Stack,
} from "@pulumi/pulumi/automation";
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tryCommand } from "../toolchain/run-command";
import { withoutOutputsAfterUpdates } from "../toolchain/pulumi-internals";
import { releaseStaleLocks } from "../toolchain/stack-lock";
import { canForgetPending, saysPending } from "./pending";
import { fileOfStack, noSuchStack, project, StackFile, stacksWithFile } from "./stack-file";

/** Loads the program, which only updates need. */
const stackProgram = () => createRequire(__filename)("../index") as typeof import("../index");

const inlineProgram: PulumiFn = async () => stackProgram()();

/** A stack of this project. It never writes the stack's file: the engine gets a copy, with a run's settings. */
export class BorrowedStack extends StackFile {
    private constructor(
        readonly automation: Stack,
        /** The copy of the stack's file. */
        readonly configFile: string,
        private readonly scratch: string,
    ) {
        super(configFile);
    }

    /**
     * Opens a stack, which need not be the selected one, and leaves the selection as it is.
     *
     * @param create whether to create it if the backend does not have it. @default whether the project has its file
     * @param inline whether the program runs in this process, which saves 1 s per update. @default false
     * @throws Error that lists the existing stacks, if there is no such stack
     */
    static async open(
        name: string,
        pulumiCommand: PulumiCommand,
        { inline = false, create = existsSync(fileOfStack(name)) } = {},
    ): Promise<BorrowedStack> {
        const scratch = mkdtempSync(join(tmpdir(), "chaos-shop-"));
        const copy = join(scratch, "stack.yaml");
        const original = fileOfStack(name);
        copyFileSync(join(project, "Pulumi.yaml"), join(scratch, "Pulumi.yaml"));
        if (existsSync(original)) copyFileSync(original, copy);
        // Less garbage collection: the engine rebuilds its state for each resource. Saves a tenth of an update.
        const envVars = { GOGC: process.env.GOGC ?? "400" };
        const workspace = await LocalWorkspace.create({
            workDir: project,
            pulumiCommand,
            program: inline ? inlineProgram : undefined,
            envVars,
        });
        const { command } = pulumiCommand;
        // The SDK's own way, `pulumi stack select`, would change which stack a plain `pulumi up` updates.
        workspace.selectStack = async () => void (await run(command, ["stack", "--show-name", "--stack", name]));
        const select = () => Stack.select(name, workspace);
        const selecting = select();
        // Loads the program while the CLI looks for the stack.
        if (inline) stackProgram();
        const stack = await selecting.catch(async (error: unknown) => {
            if (!/^error: no stack named .* found/m.test((error as Error).message)) throw error;
            if (!create) {
                const inBackend = await workspace.listStacks();
                throw noSuchStack(name, [...new Set([...stacksWithFile(), ...inBackend.map((each) => each.name)])]);
            }
            // `pulumi stack init` writes a salt into the stack's file: here, into the copy.
            await run(command, ["stack", "init", name, "--no-select"], { folder: scratch });
            return select();
        });
        return new BorrowedStack(withoutOutputsAfterUpdates(stack), copy, scratch);
    }

    /** Sets a secret. Passes it on standard input: every user of the machine can read a command's arguments. */
    async setSecret(key: string, value: string): Promise<void> {
        const place = ["--stack", this.automation.name, "--config-file", this.configFile];
        await run(this.pulumi, ["config", "set", "--secret", key, ...place], { input: value });
    }

    /**
     * Updates the stack, after it released the lock of a killed update.
     *
     * @param refresh whether to refresh the stack's state from the cluster first
     * @param replace URNs of resources to replace
     * @param signal cancels the update like Ctrl-C: the engine finishes running operations and starts no others
     * @param onOutput receives the output of `pulumi up`
     */
    async up(
        onEvent: (event: EngineEvent) => void,
        options: {
            refresh?: boolean;
            replace?: string[];
            signal?: AbortSignal;
            onOutput?: (text: string) => void;
        } = {},
    ): Promise<void> {
        releaseStaleLocks(this.automation.name);
        const { signal } = options;
        let hasPending = false;
        await this.automation.up({
            ...options,
            // The SDK never removes its listener from the signal: each update gets its own.
            signal: signal && AbortSignal.any([signal]),
            configFile: this.configFile,
            onEvent: (event) => {
                hasPending ||= saysPending(event);
                onEvent(event);
            },
            diff: options.onOutput !== undefined,
            color: "never",
            // To show secrets, the engine would write a salt into the project's stack file.
            showSecrets: false,
        });
        // The update is done: if this fails, the next one tries it again.
        if (hasPending) await this.forgetPending().catch(() => undefined);
    }

    /** Forgets pending operations if all of them can be repeated: an import clears all that a state has. */
    async forgetPending(): Promise<void> {
        const state = await this.state();
        if (!canForgetPending(state)) return;
        const file = join(this.scratch, "state.json");
        writeFileSync(file, state, { mode: 0o600 });
        await run(this.pulumi, ["stack", "import", "--file", file, "--stack", this.automation.name]);
        rmSync(file);
    }

    /** The stack's outputs. A secret is "[secret]". */
    async outputs(): Promise<OutputMap> {
        const stdout = await run(this.pulumi, ["stack", "output", "--json", "--stack", this.automation.name]);
        const values = Object.entries(JSON.parse(stdout) as Record<string, unknown>);
        return Object.fromEntries(values.map(([name, value]) => [name, { value, secret: value === "[secret]" }]));
    }

    state(): Promise<string> {
        return run(this.pulumi, ["stack", "export", "--stack", this.automation.name]);
    }

    private get pulumi(): string {
        return this.automation.workspace.pulumiCommand.command;
    }

    close(): void {
        rmSync(this.scratch, { recursive: true, force: true });
    }
}

/** Runs a command of the CLI. @returns its standard output @throws Error with what it says */
async function run(pulumi: string, args: string[], { folder = project, input = "" } = {}): Promise<string> {
    const { code, stdout, stderr } = await tryCommand(pulumi, [...args, "--non-interactive"], { cwd: folder, input });
    if (code !== 0) throw new Error(stderr.trim() || `pulumi ${args.join(" ")} ended with exit code ${code}`);
    return stdout;
}
