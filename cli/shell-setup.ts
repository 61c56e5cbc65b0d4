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
    return hasOtherCluster(shell) ? [sandboxSetup] : exportsOf(pulumiEnvironment(project, shell));
}

const sandboxSetup = 'eval "$(npm run -s sandbox -- env)"';

/** Only the sandbox has a kubeconfig that the user did not choose, and a kubectl that may not be in the PATH. */
const hasOtherCluster = (shell: NodeJS.ProcessEnv) => process.env.KUBECONFIG !== shell.KUBECONFIG;

/** What went wrong, followed by what the user's shell needs before the commands in it. */
export function withShellSetup(problem: string, shell: NodeJS.ProcessEnv = ofShell): string {
    const needsSetup = problem.includes("npx pulumi ") || (problem.includes("kubectl ") && hasOtherCluster(shell));
    const setup = needsSetup ? shellSetup(shell) : [];
    return [problem, ...setup.map((command) => `First, in your shell: ${typed(command)}`)].join("\n");
}
