import { join } from "node:path";
import { locateParts } from "../parts/locate";
import { exportsOf, pulumiEnvironment, shellQuoted } from "../../toolchain/pulumi/environment";
import { layout } from "./layout";

/** The default backend is kept in this folder. */
const project = join(__dirname, "..", "..");

/** The environment of a shell or child process that uses the sandbox. */
interface SandboxEnvironment {
    readonly variables: Readonly<Record<string, string>>;
    /** Folders with `pulumi` and `kubectl`, for the front of PATH. */
    readonly path: readonly string[];
}

/** The environment in which kubectl and Pulumi use the sandbox. */
export function sandboxEnvironment(): SandboxEnvironment {
    const { kubectlFolder, pulumiFolder } = locateParts();
    return {
        variables: { KUBECONFIG: layout.kubeconfig, ...pulumiEnvironment(project) },
        path: [pulumiFolder, kubectlFolder],
    };
}

/**
 * Shell commands that set the environment, safe for `eval` in any POSIX shell. The shell extends its own PATH: the one
 * of this process contains what `npm run` added.
 */
export function exportCommands({ variables, path }: SandboxEnvironment): string {
    return [...exportsOf(variables), `export PATH=${shellQuoted(path.join(":"))}:"$PATH"`, ""].join("\n");
}
