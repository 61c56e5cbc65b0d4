import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { PULUMI_CLI_VERSION } from "../pulumi/install";
import type { Workshop } from "./part";
import { sandboxPaths } from "./paths";
import { cliPath, pluginPath } from "./pulumi-home";
import { run } from "./run";

/** The server of the releases, and how long it may take to answer at all before it counts as out of reach. */
const RELEASE_SERVER = "https://get.pulumi.com";
const ANSWER_TIMEOUT_SECONDS = 10;

/** How long one download may take, on a slow line. */
const DOWNLOAD_TIMEOUT_SECONDS = 600;

const QUIET = { PULUMI_SKIP_UPDATE_CHECK: "true" };

/** Set once a release could not be had, so that the other downloads, which retry for long, are not tried in vain. */
let releasesUnreachable = false;

/** The folder of a CLI of the pinned version on PATH, put there by another installer. */
export async function installedElsewhere({ log }: Workshop): Promise<string | undefined> {
    const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
    for (const folder of folders.filter((each) => each !== "" && existsSync(join(each, "pulumi")))) {
        const version = await run(join(folder, "pulumi"), ["version"], log, { env: QUIET }).catch(() => "");
        if (version.trim() === `v${PULUMI_CLI_VERSION}`) return folder;
    }
    return undefined;
}

/** Copies a CLI and the language hosts beside it to where the npm package `pulumi` looks for them. */
export async function adopt(folder: string, { log }: Workshop): Promise<void> {
    const target = dirname(cliPath("pulumi"));
    mkdirSync(target, { recursive: true });
    // The CLI comes last: it is what tells that all of them are there.
    const programs = readdirSync(folder).filter((name) => /^pulumi(-language-.*|-analyzer-.*)?$/.test(name));
    for (const name of programs.sort().reverse()) {
        await run("cp", ["-L", join(folder, name), join(target, `${name}.unfinished`)], log);
        renameSync(join(target, `${name}.unfinished`), join(target, name));
    }
}

/** Downloads the release of the CLI as the Automation API does, in a process of its own: the SDK cannot give up. */
export async function downloadCli(workshop: Workshop): Promise<boolean> {
    releasesUnreachable = !(await answers(RELEASE_SERVER));
    const script = [
        `const { PulumiCommand } = require("@pulumi/pulumi/automation");`,
        `const { SemVer } = require("semver");`,
        `PulumiCommand.install({ version: new SemVer(process.argv[1]), root: process.argv[2] })`,
        `.catch((error) => { console.error(String(error)); process.exit(1); });`,
    ];
    const root = join(sandboxPaths().pulumiHome, "versions", PULUMI_CLI_VERSION);
    return attempt(process.execPath, ["-e", script.join("\n"), PULUMI_CLI_VERSION, root], workshop);
}

/** Has the CLI download the release of a provider. */
export async function installPluginRelease(provider: string, version: string, workshop: Workshop): Promise<boolean> {
    const args = ["plugin", "install", "resource", provider, `v${version}`];
    const installed = await attempt(cliPath("pulumi"), args, workshop);
    return installed && existsSync(pluginPath(provider, version));
}

async function answers(address: string): Promise<boolean> {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_SECONDS * 1000);
    return fetch(address, { method: "HEAD", signal }).then(
        () => true,
        () => false,
    );
}

/** Runs a download that may well fail; what it said is in the log. */
async function attempt(command: string, args: readonly string[], { log }: Workshop): Promise<boolean> {
    if (releasesUnreachable) {
        log.onLine("Pulumi's releases cannot be reached here");
        return false;
    }
    const env = { ...QUIET, PULUMI_HOME: sandboxPaths().pulumiHome };
    try {
        await run(command, args, log, { env, cwd: __dirname, timeoutSeconds: DOWNLOAD_TIMEOUT_SECONDS });
        return true;
    } catch {
        log.onLine("the release cannot be downloaded here");
        releasesUnreachable = true;
        return false;
    }
}
