import { existsSync } from "node:fs";
import { COMMAND_PROVIDER_VERSION, installStandIns, PULUMI_CLI_VERSION } from "../pulumi/install";
import { goPart } from "./go";
import type { InstalledPart } from "./part";
import { sandboxPaths } from "./paths";
import { cliPath, installBuilt, pluginPath } from "./pulumi-home";
import { adopt, downloadCli, installedElsewhere, installPluginRelease } from "./pulumi-release";

/** The Kubernetes provider, the release that `@pulumi/kubernetes` in package.json pins. */
const KUBERNETES_PROVIDER_VERSION = "4.25.0";

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
    // The SDK's generated packages are most of what is compiled, and hardly any of what runs.
    {
        module: "pulumi-kubernetes",
        output: "pulumi-resource-kubernetes",
        unoptimized: "github.com/pulumi/pulumi-kubernetes/sdk/v4/...",
    },
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
        const found = await installedElsewhere(workshop);
        if (found) await adopt(found, workshop);
        else if (!(await downloadCli(workshop))) {
            await installBuilt("pulumi-cli-build", "pulumi", cliPath("pulumi"), workshop);
        }
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
