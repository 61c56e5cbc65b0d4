import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { revealed } from "../cli/rendering/objects";
import type { ManifestObject } from "../components/manifest/read";
import { project } from "../cli/stack-file";
import { timed } from "./time";

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

    /** Runs an update. @returns its seconds */
    up(): Promise<number> {
        return timed(() => this.call("up", "--yes", "--skip-preview", "--config-file", this.configFile));
    }

    /** Runs a preview. @returns its seconds. @throws Error if it shows changes */
    async previewUnchanged(): Promise<number> {
        return timed(() => this.call("preview", "--expect-no-changes", "--config-file", this.configFile));
    }

    async output<T>(name: string): Promise<T> {
        return JSON.parse(await this.call("stack", "output", name, "--json")) as T;
    }

    /** The stack's state, secrets in clear text. */
    async state(): Promise<StackState> {
        return JSON.parse(await this.call("stack", "export", "--show-secrets")) as StackState;
    }

    private call(...args: string[]): Promise<string> {
        const place = ["--stack", this.name, "--non-interactive", "--color", "never"];
        return run(this.pulumi, [...args, ...place], this.folder);
    }
}

/** The relevant part of `pulumi stack export`. */
export interface StackState {
    deployment: { resources: { type: string; custom: boolean; inputs?: Record<string, unknown> }[] };
}

/**
 * A stack's Kubernetes objects as manifests in another namespace, in the order in which the engine created them. They
 * are the inputs: fields that the cluster adds are not part of them.
 */
export function manifestsOf(state: StackState, namespace: string): ManifestObject[] {
    return state.deployment.resources
        .filter(({ type, custom }) => custom && type.startsWith("kubernetes:"))
        .map(({ inputs }) => moved(revealed(inputs) as ManifestObject, namespace));
}

function moved(manifest: ManifestObject, namespace: string): ManifestObject {
    const { kind, metadata } = manifest;
    return {
        ...manifest,
        metadata: kind === "Namespace" ? { ...metadata, name: namespace } : { ...metadata, namespace },
    };
}

/** @throws Error with the command's output, if it fails */
async function run(pulumi: string, args: string[], cwd: string): Promise<string> {
    try {
        return (await promisify(execFile)(pulumi, args, { cwd, maxBuffer: 1 << 28 })).stdout;
    } catch (error) {
        const { stdout, stderr } = error as { stdout?: string; stderr?: string };
        throw new Error(`pulumi ${args[0]} failed: ${(error as Error).message}\n${stdout ?? ""}${stderr ?? ""}`);
    }
}
