import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { split } from "shlex";
import type { Advice } from "../../chaos/report/conclusion";
import { layout } from "../../sandbox/node/layout";
import { locateParts } from "../../sandbox/parts/locate";

/** Runs a command as a person does who pastes it into a shell. */
export async function paste(command: string): Promise<void> {
    const PATH = `${locateParts().kubectlFolder}:${process.env.PATH}`;
    await promisify(execFile)("sh", ["-c", command], { env: { ...process.env, PATH, KUBECONFIG: layout.kubeconfig } });
}

/** The settings in the commands that run an experiment again. @throws Error if these are not of the stack's settings */
export function settingsToShow({ experiment }: Advice, stack: string): Record<string, string> {
    const [npx, pulumi, config, set, key, value, ...rest] = split(experiment);
    const commands = [npx, pulumi, config, set, ...rest].join(" ");
    if (commands !== `npx pulumi config set --stack ${stack} && npx pulumi up --stack ${stack}`)
        throw new Error(`not commands that update ${stack} with another setting: ${experiment}`);
    return { [key!]: value! };
}
