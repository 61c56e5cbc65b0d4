import { existsSync } from "node:fs";
import { join } from "node:path";
import { ensureParts } from "../parts/ensure";
import { goPart } from "../parts/go";
import type { InstalledPart } from "../parts/part";
import { cachePaths } from "../parts/paths";
import { cliPath, installBuilt, pluginPath } from "./home";
import { adopt, downloadCli, installedElsewhere, installPluginRelease } from "./release";
import { installStandIns } from "./stand-ins";
import { COMMAND_PROVIDER_VERSION, KUBERNETES_PROVIDER_VERSION, PULUMI_CLI_VERSION } from "./versions";

const sourceFolder = join(__dirname, "..");

const pulumiCliBuild = goPart(
    { name: "pulumi-cli-build", version: PULUMI_CLI_VERSION, title: "Pulumi CLI, from its Go module", minutes: 3 },
    {
        sourceFolder,
        module: "pulumi-cli",
        package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        output: "pulumi",
        // The Automation API refuses a CLI without a version.
        variables: { "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": `v${PULUMI_CLI_VERSION}` },
    },
);

const pulumiKubernetesBuild = goPart(
    {
        name: "pulumi-kubernetes-build",
        version: KUBERNETES_PROVIDER_VERSION,
        title: "Pulumi Kubernetes provider, from its Go module",
        minutes: 6,
    },
    // The SDK's generated packages take most of the compilation, and hardly run.
    {
        sourceFolder,
        module: "pulumi-kubernetes",
        output: "pulumi-resource-kubernetes",
        unoptimized: "github.com/pulumi/pulumi-kubernetes/sdk/v4/...",
    },
);

const pulumiCli: InstalledPart = {
    kind: "installed",
    name: "pulumi-cli",
    version: PULUMI_CLI_VERSION,
    title: "Pulumi CLI",
    minutes: 3,
    needs: [],
    isPresent: async () => existsSync(cliPath()),
    async install(workshop) {
        const found = await installedElsewhere(workshop);
        if (found) await adopt(found, workshop);
        else if (!(await downloadCli(workshop))) {
            await installBuilt(pulumiCliBuild, "pulumi", cliPath(), workshop);
        }
        await installStandIns(cachePaths().pulumiHome);
    },
};

const pulumiKubernetes: InstalledPart = {
    kind: "installed",
    name: "pulumi-kubernetes",
    version: KUBERNETES_PROVIDER_VERSION,
    title: "Pulumi Kubernetes provider",
    minutes: 6,
    needs: [pulumiCli],
    isPresent: async () => existsSync(pluginPath("kubernetes", KUBERNETES_PROVIDER_VERSION)),
    async install(workshop) {
        const target = pluginPath("kubernetes", KUBERNETES_PROVIDER_VERSION);
        if (!(await installPluginRelease("kubernetes", KUBERNETES_PROVIDER_VERSION, workshop))) {
            await installBuilt(pulumiKubernetesBuild, "pulumi-resource-kubernetes", target, workshop);
        }
    },
};

const pulumiCommand: InstalledPart = {
    kind: "installed",
    name: "pulumi-command",
    version: COMMAND_PROVIDER_VERSION,
    title: "Pulumi command provider",
    minutes: 0.1,
    needs: [pulumiCli],
    isPresent: async () => existsSync(pluginPath("command", COMMAND_PROVIDER_VERSION)),
    async install(workshop) {
        await installPluginRelease("command", COMMAND_PROVIDER_VERSION, workshop);
        await installStandIns(cachePaths().pulumiHome);
    },
};

/** The CLI, its Node language host, and the two providers. */
export const pulumiParts = [pulumiCli, pulumiKubernetes, pulumiCommand];

/** Installs {@link pulumiParts} where they are missing, and updates the stand-ins, which is cheap. */
export async function ensurePulumi(): Promise<void> {
    await ensureParts(pulumiParts);
    await installStandIns(cachePaths().pulumiHome);
}
