import { type EngineEvent, LocalWorkspace, type PreviewOptions, PulumiCommand, Stack } from "@pulumi/pulumi/automation";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type AskedRun, askedVariable } from "../../run/asked-run";
import type { Cancelable } from "../interruption";

/**
 * A stack of any program, updated by the Pulumi CLI of this machine. The stack's settings and the selected stack stay
 * as they are.
 */
export class ProgramStack implements Cancelable {
    private interruption = new AbortController();
    private engineRuns = false;

    private constructor(
        readonly name: string,
        private readonly stack: Stack,
    ) {}

    /** @param named @default the selected stack @throws Error if there is no project, no Pulumi or no such stack */
    static async open(named?: string): Promise<ProgramStack> {
        const workDir = projectFolder(process.cwd());
        if (workDir === undefined)
            throw new Error(`${process.cwd()} is not in a Pulumi project: go to the folder with its Pulumi.yaml`);
        const pulumiCommand = await PulumiCommand.get().catch(({ message }: Error) => {
            const why = message.includes("ENOENT") ? "is not on the PATH" : `does not start: ${message}`;
            throw new Error(`the Pulumi CLI ${why}. Install it as https://www.pulumi.com/docs/install says`);
        });
        const shown = await nameOf(pulumiCommand.command, workDir, named === undefined ? [] : ["--stack", named]);
        const name = named ?? shown;
        const workspace = await LocalWorkspace.create({ workDir, pulumiCommand });
        // The SDK would change which stack a plain `pulumi up` updates.
        workspace.selectStack = async () => undefined;
        const stack = await Stack.select(name, workspace);
        // The SDK would read them after each update, with secrets.
        stack.outputs = async () => ({});
        return new ProgramStack(name, stack);
    }

    /** @param onEvent gets what the engine says */
    preview(asked: AskedRun, onEvent: (event: EngineEvent) => void): Promise<unknown> {
        return this.runEngine(asked, onEvent, (options) => this.stack.preview(options));
    }

    up(asked: AskedRun, onEvent: (event: EngineEvent) => void): Promise<unknown> {
        // To show secrets, the engine would write a salt into the stack's file.
        return this.runEngine(asked, onEvent, (options) => this.stack.up({ ...options, showSecrets: false }));
    }

    cancel({ engineKnows }: { engineKnows: boolean }): void {
        if (!engineKnows || !this.engineRuns) this.interruption.abort();
        this.interruption = new AbortController();
    }

    private async runEngine(
        asked: AskedRun,
        onEvent: (event: EngineEvent) => void,
        run: (options: Pick<PreviewOptions, "color" | "onEvent" | "signal">) => Promise<unknown>,
    ): Promise<unknown> {
        this.stack.workspace.envVars[askedVariable] = JSON.stringify(asked);
        this.engineRuns = true;
        try {
            return await run({ color: "never", onEvent, signal: this.interruption.signal });
        } finally {
            this.engineRuns = false;
        }
    }
}

/** @throws Error with what the CLI says, such as that there is no stack of that name */
async function nameOf(pulumi: string, cwd: string, place: readonly string[]): Promise<string> {
    const args = ["stack", "--show-name", "--non-interactive", "--color", "never", ...place];
    try {
        return (await promisify(execFile)(pulumi, args, { cwd })).stdout.trim();
    } catch (error) {
        const { stderr = "", message } = error as Error & { stderr?: string };
        throw new Error(stderr.trim() || message, { cause: error });
    }
}

const projectFiles = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"];

/** The folder or its nearest ancestor that has a project's file, as the CLI finds it. */
function projectFolder(folder: string): string | undefined {
    if (projectFiles.some((file) => existsSync(join(folder, file)))) return folder;
    return folder === dirname(folder) ? undefined : projectFolder(dirname(folder));
}
