import { join } from "node:path";
import { locateParts } from "../parts/locate";
import { exportsOf, pulumiEnvironment, shellQuoted } from "../../toolchain/pulumi/environment";
import { noProxy } from "./addresses";
import { layout } from "./layout";

/** The default backend is kept in this folder. */
const project = join(__dirname, "..", "..");

/** The environment in which kubectl and Pulumi use the sandbox. */
export function sandboxEnvironment() {
    const { kubectlFolder, pulumiFolder } = locateParts();
    return {
        variables: { KUBECONFIG: layout.kubeconfig, NO_PROXY: noProxy(), ...pulumiEnvironment(project) },
        /** Folders for the front of PATH. */
        path: [pulumiFolder, kubectlFolder],
    };
}

/**
 * Shell commands that set the environment, safe for `eval` in any POSIX shell. The shell extends its own PATH: the one
 * of this process contains what `npm run` added.
 */
export function exportCommands({ variables, path }: { variables: Record<string, string>; path: string[] }): string {
    return [...exportsOf(variables), `export PATH=${shellQuoted(path.join(":"))}:"$PATH"`, ""].join("\n");
}
