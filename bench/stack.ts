import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { setSecret } from "../cli/stack";
import { project } from "../cli/stack-file";
import { timed } from "./time";

const everyCommand = ["--non-interactive", "--color", "never"];

/** A stack that is used by the CLI, as users do. Its backend and configuration are outside the project. */
export class BenchStack {
    private constructor(
        private readonly pulumi: string,
        private readonly folder: string,
        readonly name: string,
        private readonly configFile: string,
    ) {}

    /** A new stack of this project, or of the project in another folder. */
    static async ofProject(pulumi: string, scratch: string, name: string, of = project): Promise<BenchStack> {
        const folder = join(scratch, `configuration-${name}`);
        mkdirSync(folder);
        copyFileSync(join(of, "Pulumi.yaml"), join(folder, "Pulumi.yaml"));
        // `stack init` writes a salt into the stack's file: here, outside the project.
        await run(pulumi, ["stack", "init", name], folder);
        return new BenchStack(pulumi, of, name, join(folder, `Pulumi.${name}.yaml`));
    }

    /** A new stack of a program without resources. Pulumi's own TypeScript loader runs it, without type checks. */
    static async ofEmptyProgram(pulumi: string, scratch: string, name: string): Promise<BenchStack> {
        const folder = join(scratch, "empty-program");
        mkdirSync(folder);
        symlinkSync(join(project, "node_modules"), join(folder, "node_modules"));
        const files = {
            "Pulumi.yaml": "name: empty\nruntime: nodejs\n",
            "package.json": "{}",
            "tsconfig.json": JSON.stringify({
                compilerOptions: { noCheck: true, target: "es2022", module: "commonjs", moduleResolution: "node10" },
            }),
            "index.ts": 'import "@pulumi/pulumi";\n',
        };
        for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
        await run(pulumi, ["stack", "init", name], folder);
        return new BenchStack(pulumi, folder, name, join(folder, `Pulumi.${name}.yaml`));
    }

    async set(settings: Record<string, string>): Promise<void> {
        const pairs = Object.entries(settings).flatMap(([key, value]) => ["--plaintext", `${key}=${value}`]);
        await this.call("config", "set-all", "--config-file", this.configFile, ...pairs);
    }

    /** Sets a secret of a stack of this project. */
    async setSecret(key: string, value: string): Promise<void> {
        await setSecret(this.pulumi, this.name, this.configFile, key, value);
    }

    /** Runs an update. @param onLine is told each line of its progress, at once. @returns its seconds */
    async up(onLine?: (line: string) => void): Promise<number> {
        const args = ["up", "--yes", "--skip-preview", "--config-file", this.configFile];
        return timed(() => run(this.pulumi, [...args, ...this.place()], this.folder, onLine));
    }

    /** Runs a preview. @returns its seconds. @throws Error if it shows changes */
    async previewUnchanged(): Promise<number> {
        return timed(() => this.call("preview", "--expect-no-changes", "--config-file", this.configFile));
    }

    /** Previews a new stack. @returns the seconds, and the number of resources to create */
    async previewNew(): Promise<{ seconds: number; resources: number }> {
        let printed = "";
        const seconds = await timed(
            async () => void (printed = await this.call("preview", "--config-file", this.configFile)),
        );
        const resources = Number(/\+ (\d+) to create/.exec(printed)?.[1]);
        if (!(resources > 0)) throw new Error(`the preview creates nothing: ${printed}`);
        return { seconds, resources };
    }

    /** Destroys the stack's resources. */
    async destroy(): Promise<void> {
        await this.call("destroy", "--yes", "--skip-preview", "--config-file", this.configFile);
    }

    async output<T>(name: string): Promise<T> {
        return JSON.parse(await this.call("stack", "output", name, "--json")) as T;
    }

    /** The stack's state, secrets in clear text. */
    async state(): Promise<StackState> {
        return JSON.parse(await this.call("stack", "export", "--show-secrets")) as StackState;
    }

    private call(...args: string[]): Promise<string> {
        return run(this.pulumi, [...args, ...this.place()], this.folder);
    }

    private place(): string[] {
        return ["--stack", this.name, ...everyCommand];
    }
}

/** The relevant part of `pulumi stack export`. */
export interface StackState {
    deployment: { resources: { type: string; custom: boolean; inputs?: Record<string, unknown> }[] };
}

/** @throws Error with the command's output, if it fails */
async function run(pulumi: string, args: string[], cwd: string, onLine?: (line: string) => void): Promise<string> {
    const running = promisify(execFile)(pulumi, args, { cwd, maxBuffer: 1 << 28 });
    if (onLine) createInterface(running.child.stdout!).on("line", onLine);
    try {
        return (await running).stdout;
    } catch (error) {
        const { stdout, stderr } = error as { stdout?: string; stderr?: string };
        throw new Error(`pulumi ${args[0]} failed: ${(error as Error).message}\n${stdout ?? ""}${stderr ?? ""}`);
    }
}
