import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { Workshop } from "../parts/part";
import { cachePaths } from "../parts/paths";
import { run } from "../parts/run";
import { cliPath, cliRoot, pluginPath } from "./home";
import { PULUMI_CLI_VERSION } from "./versions";

/** The server of the releases, and how long it may take to answer. */
const RELEASE_SERVER = "https://get.pulumi.com";
const ANSWER_TIMEOUT_SECONDS = 10;

/** The limit for one download. */
const DOWNLOAD_TIMEOUT_SECONDS = 600;

const QUIET = { PULUMI_SKIP_UPDATE_CHECK: "true" };

/** Set when a download fails: the other downloads, which retry for minutes, are then skipped. */
let releasesUnreachable = false;

/** The folder on PATH with a CLI of the pinned version, from another installer. */
export async function installedElsewhere({ log }: Workshop): Promise<string | undefined> {
    const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
    for (const folder of folders.filter((each) => each !== "" && existsSync(join(each, "pulumi")))) {
        const version = await run(join(folder, "pulumi"), ["version"], log, { env: QUIET }).catch(() => "");
        if (version.trim() === `v${PULUMI_CLI_VERSION}`) return folder;
    }
    return undefined;
}

/** Copies a CLI and its language hosts to the CLI's own folder. */
export async function adopt(folder: string, { log }: Workshop): Promise<void> {
    const target = dirname(cliPath());
    mkdirSync(target, { recursive: true });
    // The CLI comes last: its presence means that all are there.
    const programs = readdirSync(folder).filter((name) => /^pulumi(-language-.*|-analyzer-.*)?$/.test(name));
    for (const name of programs.sort().reverse()) {
        await run("cp", ["-L", join(folder, name), join(target, `${name}.unfinished`)], log);
        renameSync(join(target, `${name}.unfinished`), join(target, name));
    }
}

/** Downloads the release of the CLI. */
export async function downloadCli(workshop: Workshop): Promise<boolean> {
    releasesUnreachable = !(await answers(RELEASE_SERVER));
    const program = ["--import", "tsx", join(__dirname, "download-cli.ts")];
    return attempt(process.execPath, [...program, cliRoot()], workshop);
}

/** Downloads the release of a provider, by the CLI. */
export async function installPluginRelease(provider: string, version: string, workshop: Workshop): Promise<boolean> {
    const args = ["plugin", "install", "resource", provider, `v${version}`];
    const installed = await attempt(cliPath(), args, workshop);
    return installed && existsSync(pluginPath(provider, version));
}

async function answers(address: string): Promise<boolean> {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_SECONDS * 1000);
    return fetch(address, { method: "HEAD", signal }).then(
        () => true,
        () => false,
    );
}

/** Runs a download that may fail. Its output is in the log. */
async function attempt(command: string, args: readonly string[], { log }: Workshop): Promise<boolean> {
    if (releasesUnreachable) {
        log.onLine("Pulumi's releases are out of reach");
        return false;
    }
    const env = { ...QUIET, PULUMI_HOME: cachePaths().pulumiHome };
    try {
        await run(command, args, log, { env, cwd: __dirname, timeoutSeconds: DOWNLOAD_TIMEOUT_SECONDS });
        return true;
    } catch {
        log.onLine("the download failed");
        releasesUnreachable = true;
        return false;
    }
}
