import { join } from "node:path";
import { exportsOf, pulumiEnvironment } from "../toolchain/pulumi/environment";
import { typed } from "./print";

const project = join(__dirname, "..");

/** As the shell that started this process has it: the programs change their own. */
const ofShell = { ...process.env };

/**
 * The commands that make the user's shell use the Pulumi CLI, the backend and the cluster of this process. What is
 * printed as `npx pulumi …` or `kubectl …` needs them. Empty if the shell has all.
 *
 * @param shell its environment. @default that in which this process began
 */
export function shellSetup(shell: NodeJS.ProcessEnv = ofShell): string[] {
    // Only the sandbox has a kubeconfig that the user did not choose.
    if (process.env.KUBECONFIG !== shell.KUBECONFIG) return ['eval "$(npm run -s sandbox -- env)"'];
    return exportsOf(pulumiEnvironment(project, shell));
}

/** What went wrong, followed by what the user's shell needs before the commands in it. */
export function withShellSetup(problem: string): string {
    const setup = problem.includes("npx pulumi ") ? shellSetup() : [];
    return [problem, ...setup.map((command) => `First, in your shell: ${typed(command)}`)].join("\n");
}
