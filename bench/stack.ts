import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { timed } from "./time";

export const project = join(__dirname, "..");
const everyCommand = ["--non-interactive", "--color", "never"];

/**
 * A stack that is driven as a user drives it, by the command line, with its state in a backend of the bench's own and
 * its configuration in a file beside it: nothing of the project is written to.
 */
export class BenchStack {
    private constructor(
        private readonly pulumi: string,
        private readonly folder: string,
        readonly name: string,
        private readonly configFile: string,
    ) {}

    /** A new stack of this project, or of another one that lies in a folder. */
    static async ofProject(pulumi: string, scratch: string, name: string, of = project): Promise<BenchStack> {
        const folder = join(scratch, `configuration-${name}`);
        mkdirSync(folder);
        copyFileSync(join(of, "Pulumi.yaml"), join(folder, "Pulumi.yaml"));
        // `stack init` writes its salt into the stack's file: into this one, not one of the project's.
        await run(pulumi, ["stack", "init", name], folder);
        return new BenchStack(pulumi, of, name, join(folder, `Pulumi.${name}.yaml`));
    }

    /** A new stack of a program that makes nothing, run as Pulumi runs TypeScript where it does not check types. */
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

    /** Sets a secret. It goes by standard input: what a process was started with, everybody may read. */
    async setSecret(key: string, value: string): Promise<void> {
        const call = promisify(execFile)(
            this.pulumi,
            ["config", "set", "--secret", key, "--config-file", this.configFile, "--stack", this.name, ...everyCommand],
            { cwd: this.folder },
        );
        call.child.stdin!.end(value);
        await call;
    }

    /** One update; gives the seconds from the command's start to its end. */
    async up(): Promise<number> {
        return timed(() => this.call("up", "--yes", "--skip-preview", "--config-file", this.configFile));
    }

    /** One preview; gives its seconds. @throws Error where it is to change something */
    async previewUnchanged(): Promise<number> {
        return timed(() => this.call("preview", "--expect-no-changes", "--config-file", this.configFile));
    }

    /** One preview of a stack that has nothing yet; gives its seconds, and how many resources it is to make. */
    async previewNew(): Promise<{ seconds: number; resources: number }> {
        let printed = "";
        const seconds = await timed(
            async () => void (printed = await this.call("preview", "--config-file", this.configFile)),
        );
        const resources = Number(/\+ (\d+) to create/.exec(printed)?.[1]);
        if (!(resources > 0)) throw new Error(`the preview is to make nothing: ${printed}`);
        return { seconds, resources };
    }

    /** An update of a program without resources, so that its preview changes nothing. */
    async settle(): Promise<void> {
        await this.up();
    }

    /** Removes all that the stack made. */
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
        return run(this.pulumi, [...args, "--stack", this.name, ...everyCommand], this.folder);
    }
}

/** What `pulumi stack export` prints, as far as it matters here. */
export interface StackState {
    deployment: { resources: { type: string; custom: boolean; inputs?: Record<string, unknown> }[] };
}

/** @throws Error with all that the command said, where it fails */
async function run(pulumi: string, args: string[], cwd: string): Promise<string> {
    try {
        return (await promisify(execFile)(pulumi, args, { cwd, maxBuffer: 1 << 28 })).stdout;
    } catch (error) {
        const { stdout, stderr } = error as { stdout?: string; stderr?: string };
        throw new Error(`pulumi ${args[0]} failed: ${(error as Error).message}\n${stdout ?? ""}${stderr ?? ""}`);
    }
}
