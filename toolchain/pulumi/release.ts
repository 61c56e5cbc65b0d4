import { existsSync } from "node:fs";
import type { Workshop } from "../parts/part";
import { cachePaths } from "../parts/paths";
import { download } from "../download";
import { run } from "../parts/run";
import { cliPath, cliRoot, pluginPath } from "./home";

/** The server of the releases, and how long it may take to answer. */
const RELEASE_SERVER = "https://get.pulumi.com";
const ANSWER_TIMEOUT_MS = 10_000;

const DOWNLOAD_TIMEOUT_MS = 600_000;

/** Set when a download fails: the other downloads, which retry for minutes, are then skipped. */
let releasesUnreachable = false;

/** Downloads the release of the CLI. In a process: the SDK's download cannot be given a time limit. */
export async function downloadCli(workshop: Workshop): Promise<boolean> {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    await download(RELEASE_SERVER, { method: "HEAD", signal }).catch(() => (releasesUnreachable = true));
    // Without a version it takes the SDK's own.
    const program = `require("@pulumi/pulumi/automation").PulumiCommand.install({ root: process.argv[1] })`;
    return attempt(process.execPath, ["--eval", program, cliRoot()], workshop);
}

export async function installPluginRelease(provider: string, version: string, workshop: Workshop): Promise<boolean> {
    const args = ["plugin", "install", "resource", provider, `v${version}`];
    const installed = await attempt(cliPath(), args, workshop);
    return installed && existsSync(pluginPath(provider, version));
}

/** Runs a download that may fail. Its output is in the log. */
async function attempt(command: string, args: readonly string[], { log }: Workshop): Promise<boolean> {
    if (releasesUnreachable) {
        log.onLine("skipped: an earlier download failed");
        return false;
    }
    const env = { PULUMI_SKIP_UPDATE_CHECK: "true", PULUMI_HOME: cachePaths().pulumiHome };
    try {
        await run(command, args, log, { env, cwd: __dirname, timeoutMs: DOWNLOAD_TIMEOUT_MS });
        return true;
    } catch {
        log.onLine("the download failed");
        releasesUnreachable = true;
        return false;
    }
}
