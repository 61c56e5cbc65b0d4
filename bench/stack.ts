import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { revealed } from "../cli/rendering/objects";
import type { ManifestObject } from "../components/manifest/read";
import { tryCommand } from "../toolchain/run-command";
import { timed } from "./time";

/** A stack that is used by the CLI, as users do. Its backend and configuration are outside the project. */
export class BenchStack {
    private constructor(
        private readonly pulumi: string,
        private readonly folder: string,
        readonly name: string,
        private readonly configFile: string,
    ) {}

    static async open(pulumi: string, scratch: string, name: string, folder: string): Promise<BenchStack> {
        const configuration = join(scratch, `configuration-${name}`);
        mkdirSync(configuration);
        copyFileSync(join(folder, "Pulumi.yaml"), join(configuration, "Pulumi.yaml"));
        // `stack init` writes a salt into the stack's file: here, outside the project.
        await run(pulumi, ["stack", "init", name, "--no-select"], configuration);
        return new BenchStack(pulumi, folder, name, join(configuration, `Pulumi.${name}.yaml`));
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

    /** Releases the lock that a killed update has left. @throws Error if there is none */
    async cancel(): Promise<void> {
        await this.call("cancel", "--yes");
    }

    async output<T>(name: string): Promise<T> {
        return JSON.parse(await this.call("stack", "output", name, "--json")) as T;
    }

    /** The stack's state, secrets in clear text. */
    async state(): Promise<StackState> {
        return JSON.parse(await this.call("stack", "export", "--show-secrets")) as StackState;
    }

    /** The command that does something with the stack. */
    command(...args: string[]) {
        const place = ["--stack", this.name, "--config-file", this.configFile, "--non-interactive", "--color", "never"];
        return { command: this.pulumi, args: [...args, ...place], cwd: this.folder };
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
    const { code, stdout, stderr } = await tryCommand(pulumi, args, { cwd });
    if (code !== 0) throw new Error(`pulumi ${args[0]} failed with exit code ${code}:\n${stdout}${stderr}`);
    return stdout;
}
