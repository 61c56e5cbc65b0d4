import { copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { COMMAND_PROVIDER_VERSION, installStandIns, PULUMI_CLI_VERSION } from "../pulumi/install";
import { goPart } from "./go";
import type { InstalledPart, PartName, Workshop } from "./part";
import { sandboxPaths } from "./paths";
import { run } from "./run";

/** The Kubernetes provider, the release that `@pulumi/kubernetes` in package.json pins. */
const KUBERNETES_PROVIDER_VERSION = "4.25.0";

/** How long a release download may take to begin failing; a network without the release server refuses at once. */
const DOWNLOAD_TIMEOUT_SECONDS = 180;

export const pulumiCliBuild = goPart(
    { name: "pulumi-cli-build", version: PULUMI_CLI_VERSION, title: "Pulumi CLI, from its Go module", minutes: 3 },
    {
        module: "pulumi-cli",
        package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        output: "pulumi",
        // Without it the Automation API cannot tell the CLI's version, and refuses it.
        variables: { "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": `v${PULUMI_CLI_VERSION}` },
    },
);

export const pulumiKubernetesBuild = goPart(
    {
        name: "pulumi-kubernetes-build",
        version: KUBERNETES_PROVIDER_VERSION,
        title: "Pulumi Kubernetes provider, from its Go module",
        minutes: 6,
    },
    // Not optimized: it builds in two thirds of the time, and waits for the API server all the same.
    { module: "pulumi-kubernetes", output: "pulumi-resource-kubernetes", compilerFlags: "-N -l" },
);

export const pulumiCli: InstalledPart = {
    kind: "installed",
    name: "pulumi-cli",
    version: PULUMI_CLI_VERSION,
    title: "Pulumi CLI",
    minutes: 3,
    needs: [],
    isPresent: async () => existsSync(cliPath("pulumi")),
    async install(workshop) {
        // In a process of its own: the SDK offers no way to give up.
        const script = [
            `const { PulumiCommand } = require("@pulumi/pulumi/automation");`,
            `const { SemVer } = require("semver");`,
            `PulumiCommand.install({ version: new SemVer(process.argv[1]), root: process.argv[2] })`,
            `.catch((error) => { console.error(String(error)); process.exit(1); });`,
        ].join("\n");
        const root = join(sandboxPaths().pulumiHome, "versions", PULUMI_CLI_VERSION);
        const release = await attempt(process.execPath, ["-e", script, PULUMI_CLI_VERSION, root], workshop);
        if (!release) await installBuilt("pulumi-cli-build", "pulumi", cliPath("pulumi"), workshop);
        await installStandIns(sandboxPaths().pulumiHome);
    },
};

export const pulumiKubernetes: InstalledPart = {
    kind: "installed",
    name: "pulumi-kubernetes",
    version: KUBERNETES_PROVIDER_VERSION,
    title: "Pulumi Kubernetes provider",
    minutes: 6,
    needs: ["pulumi-cli"],
    isPresent: async () => existsSync(pluginPath("kubernetes", KUBERNETES_PROVIDER_VERSION)),
    async install(workshop) {
        const target = pluginPath("kubernetes", KUBERNETES_PROVIDER_VERSION);
        if (!(await installPluginRelease("kubernetes", KUBERNETES_PROVIDER_VERSION, workshop))) {
            await installBuilt("pulumi-kubernetes-build", "pulumi-resource-kubernetes", target, workshop);
        }
    },
};

export const pulumiCommand: InstalledPart = {
    kind: "installed",
    name: "pulumi-command",
    version: COMMAND_PROVIDER_VERSION,
    title: "Pulumi command provider",
    minutes: 0.1,
    needs: ["pulumi-cli"],
    isPresent: async () => existsSync(pluginPath("command", COMMAND_PROVIDER_VERSION)),
    async install(workshop) {
        await installPluginRelease("command", COMMAND_PROVIDER_VERSION, workshop);
        await installStandIns(sandboxPaths().pulumiHome);
    },
};

/** Where the CLI and its language host lie in Pulumi's home; the npm package `pulumi` looks in the same place. */
export function cliPath(program: "pulumi" | "pulumi-language-nodejs"): string {
    return join(sandboxPaths().pulumiHome, "versions", PULUMI_CLI_VERSION, "bin", program);
}

function pluginPath(provider: string, version: string): string {
    return join(sandboxPaths().pulumiHome, "plugins", `resource-${provider}-v${version}`, `pulumi-resource-${provider}`);
}

async function installPluginRelease(provider: string, version: string, workshop: Workshop): Promise<boolean> {
    const installed = await attempt(cliPath("pulumi"), ["plugin", "install", "resource", provider, `v${version}`], workshop);
    return installed && existsSync(pluginPath(provider, version));
}

/** Runs a download that may well fail; what it said is in the log. */
async function attempt(command: string, args: readonly string[], { log }: Workshop): Promise<boolean> {
    const env = { PULUMI_SKIP_UPDATE_CHECK: "true", PULUMI_HOME: sandboxPaths().pulumiHome };
    try {
        await run(command, args, log, { env, cwd: __dirname, timeoutSeconds: DOWNLOAD_TIMEOUT_SECONDS });
        return true;
    } catch {
        log.onLine("the release cannot be downloaded here");
        return false;
    }
}

async function installBuilt(part: PartName, program: string, target: string, workshop: Workshop): Promise<void> {
    await workshop.provide(part);
    const built = join(workshop.folderOf(part), program);
    // A download that broke off leaves these behind; the CLI then takes the plugin for half installed.
    for (const left of [`${dirname(target)}.partial`, `${dirname(target)}.lock`]) rmSync(left, { force: true });
    mkdirSync(dirname(target), { recursive: true });
    const unfinished = `${target}.unfinished`;
    rmSync(unfinished, { force: true });
    try {
        linkSync(built, unfinished);
    } catch {
        copyFileSync(built, unfinished); // Pulumi's home is on another file system.
    }
    renameSync(unfinished, target);
}
