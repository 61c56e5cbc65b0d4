import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { quote as shellQuoted } from "shlex";
import { loginUrl } from "../stack-lock";
import { PULUMI_CLI_VERSION } from "./versions";

/**
 * The environment variables that the Pulumi CLI needs and the user has not set. Without a login or a backend, the state
 * is kept in a file backend in the project, encrypted with a generated passphrase; both are in `.pulumi/`, which git
 * ignores. `PULUMI_VERSION` makes `npx pulumi`, whose npm package pins another version, use the installed CLI.
 *
 * @param project the project's folder
 * @param env the variables that are set. @default the environment of this process
 * @returns the variables to add
 */
export function pulumiEnvironment(project: string, env: NodeJS.ProcessEnv = process.env): Record<string, string> {
    const added: Record<string, string> = {};
    if (env.PULUMI_SKIP_UPDATE_CHECK === undefined) added.PULUMI_SKIP_UPDATE_CHECK = "true";
    if (env.PULUMI_VERSION === undefined) added.PULUMI_VERSION = PULUMI_CLI_VERSION;
    const isOther = otherCheckout(project, env) !== undefined;
    if (!isOther && (env.PULUMI_BACKEND_URL || env.PULUMI_ACCESS_TOKEN || loginUrl(env))) return added;
    added.PULUMI_BACKEND_URL = fileBackend(project);
    if (isOther || (env.PULUMI_CONFIG_PASSPHRASE === undefined && env.PULUMI_CONFIG_PASSPHRASE_FILE === undefined))
        added.PULUMI_CONFIG_PASSPHRASE_FILE = passphraseFile(join(project, ".pulumi"));
    return added;
}

/**
 * The folder of another checkout whose own backend the environment names, as the shell commands of that checkout set
 * it: with this one's program, an update would change that one's shop.
 *
 * @returns undefined if the environment names another backend, or none
 */
function otherCheckout(project: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
    const [, folder] = /^file:\/\/(.+)\?metadata=skip$/.exec(env.PULUMI_BACKEND_URL ?? "") ?? [];
    if (folder === undefined || folder === project) return undefined;
    return env.PULUMI_CONFIG_PASSPHRASE_FILE === join(folder, ".pulumi", "passphrase") ? folder : undefined;
}

/** @throws Error if the environment names another checkout's own backend, with the commands that name this one's */
export function requireNoOtherCheckout(project: string, env: NodeJS.ProcessEnv = process.env): void {
    const other = otherCheckout(project, env);
    if (other === undefined) return;
    const commands = exportsOf(pulumiEnvironment(project, env)).map((line) => `\n  ${line}`);
    throw new Error(
        `PULUMI_BACKEND_URL names the stacks of another checkout, ${other}, which this program would change to what ` +
            `${project} says. Nothing was touched. To use this checkout's, run in this shell:${commands.join("")}`,
    );
}

/**
 * The URL of a file backend that survives a killed update. Without `metadata=skip` the CLI writes a second file beside
 * each state file, and not atomically: a CLI killed in between leaves it empty, and from then on every command fails
 * with "failed to load checkpoint: EOF".
 */
export function fileBackend(folder: string): string {
    return `file://${folder}?metadata=skip`;
}

/** The passphrase's file, created if missing. Without it the secrets in the state cannot be read. */
function passphraseFile(folder: string): string {
    const file = join(folder, "passphrase");
    if (!existsSync(file)) {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(file, randomBytes(24).toString("base64url"), { mode: 0o600, flag: "wx" });
    }
    return file;
}

/**
 * Checks that the CLI will find the passphrase that encrypts a stack's secrets. The Pulumi Cloud needs none, nor does
 * the backend that {@link pulumiEnvironment} chooses.
 *
 * @throws Error with the command that sets it
 */
export function requirePassphrase(env: NodeJS.ProcessEnv = process.env): void {
    const { PULUMI_CONFIG_PASSPHRASE: passphrase, PULUMI_CONFIG_PASSPHRASE_FILE: file } = env;
    const backend = env.PULUMI_BACKEND_URL || (env.PULUMI_ACCESS_TOKEN ? undefined : loginUrl(env));
    if (!backend || /^https?:/.test(backend) || passphrase !== undefined || (file && existsSync(file))) return;
    const missing = file
        ? `PULUMI_CONFIG_PASSPHRASE_FILE is "${file}", which does not exist`
        : "neither PULUMI_CONFIG_PASSPHRASE nor PULUMI_CONFIG_PASSPHRASE_FILE is set";
    const shown = backend.replace(/\?.*/, "").replace(/\/\/[^/]*@/, "//");
    throw new Error(
        `Pulumi's backend ${shown} needs the passphrase that encrypts the secrets of its stacks, and ${missing}. ` +
            "Nothing was touched. Enter the passphrase, a new one for a new stack, and run the same command again:\n" +
            "  read -rs PULUMI_CONFIG_PASSPHRASE && export PULUMI_CONFIG_PASSPHRASE",
    );
}

export function exportsOf(variables: Readonly<Record<string, string>>): string[] {
    return Object.entries(variables).map(([name, value]) => `export ${name}=${shellQuoted(value)}`);
}

/** Safe in any POSIX shell. */
export { shellQuoted };
