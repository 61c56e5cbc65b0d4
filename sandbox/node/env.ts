import { homedir } from "node:os";
import { join } from "node:path";
import { locateParts } from "../parts/locate";
import { pulumiEnvironment } from "../pulumi/environment";
import { nodeLayout } from "./layout";

/** Beside this folder a backend is kept for a user who has none. */
const project = join(__dirname, "..", "..");

/** What a shell, or a child process, needs to work with the sandbox. */
export interface SandboxEnvironment {
    readonly variables: Readonly<Record<string, string>>;
    /** Folders with `pulumi` and `kubectl`, to be put before all others on PATH. */
    readonly path: readonly string[];
}

/**
 * What sets a shell up for the sandbox: `kubectl` finds the cluster, and the tools are found first.
 *
 * @param env the user's environment. @default this process's
 */
export function sandboxEnvironment(env: NodeJS.ProcessEnv = process.env): SandboxEnvironment {
    const { kubectlFolder, pulumiFolder, pulumiHome } = locateParts();
    const isUsualHome = pulumiHome === join(env.HOME || homedir(), ".pulumi");
    return {
        variables: {
            KUBECONFIG: nodeLayout().kubeconfig,
            ...(isUsualHome ? {} : { PULUMI_HOME: pulumiHome }),
            ...pulumiEnvironment(project, env),
        },
        path: [pulumiFolder, kubectlFolder],
    };
}

/**
 * Shell commands that set the environment; safe for `eval` in any POSIX shell whatever the values hold. PATH is put
 * together by that shell: the one that this process sees carries what `npm run` adds for its scripts.
 */
export function exportCommands({ variables, path }: SandboxEnvironment): string {
    return `${exportsOf(variables)
        .map((line) => `${line}\n`)
        .join("")}export PATH=${shellQuoted(path.join(":"))}:"$PATH"\n`;
}

/** A command for each variable. */
export function exportsOf(variables: Readonly<Record<string, string>>): string[] {
    return Object.entries(variables).map(([name, value]) => `export ${name}=${shellQuoted(value)}`);
}

function shellQuoted(value: string): string {
    return `'${value.replaceAll("'", `'\\''`)}'`;
}
