import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loginUrl } from "../../shared/stackLock";
import { PULUMI_CLI_VERSION } from "./install";

/**
 * What the Pulumi CLI needs besides itself, for whoever has not chosen: without a login or a backend of one's own, the
 * state is kept in a file backend beside the project, encrypted with a generated passphrase. Both are in `.pulumi/`,
 * which git leaves out. And `npx pulumi`, whose package has other versions, is told to take the CLI that is there. What the
 * environment sets already is left as it is.
 *
 * @param project the project's folder
 * @param env what is set already
 * @returns the variables to add
 */
export function pulumiEnvironment(project: string, env: NodeJS.ProcessEnv = process.env): Record<string, string> {
    const added: Record<string, string> = {};
    if (env.PULUMI_SKIP_UPDATE_CHECK === undefined) added.PULUMI_SKIP_UPDATE_CHECK = "true";
    if (env.PULUMI_VERSION === undefined) added.PULUMI_VERSION = PULUMI_CLI_VERSION;
    if (env.PULUMI_BACKEND_URL !== undefined || env.PULUMI_ACCESS_TOKEN !== undefined || loginUrl(env)) return added;
    added.PULUMI_BACKEND_URL = fileBackend(project);
    if (env.PULUMI_CONFIG_PASSPHRASE === undefined && env.PULUMI_CONFIG_PASSPHRASE_FILE === undefined) {
        added.PULUMI_CONFIG_PASSPHRASE_FILE = passphraseFile(join(project, ".pulumi"));
    }
    return added;
}

/**
 * The URL of a file backend that outlives a killed update. Without `metadata=skip` the CLI writes a second file beside
 * each of the state's, and not at one stroke as the state itself: killed in between it leaves one that is empty, and
 * from then on each command ends with "failed to load checkpoint: EOF".
 */
export function fileBackend(folder: string): string {
    return `file://${folder}?metadata=skip`;
}

/** The file with the passphrase, made where it is not there. Whoever loses it loses the secrets of the state beside it. */
function passphraseFile(folder: string): string {
    const file = join(folder, "passphrase");
    if (!existsSync(file)) {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(file, randomBytes(24).toString("base64url"), { mode: 0o600, flag: "wx" });
    }
    return file;
}
