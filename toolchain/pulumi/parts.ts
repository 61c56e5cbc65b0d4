import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { ensureParts } from "../parts/ensure";
import { goPart } from "../parts/go";
import type { InstalledPart, Workshop } from "../parts/part";
import { cachePaths } from "../parts/paths";
import { besideCli, cliPath, installBuilt, pluginPath } from "./home";
import { downloadCli, installPluginRelease } from "./release";
import { installStandIns } from "./stand-ins";
import { COMMAND_PROVIDER_VERSION, KUBERNETES_PROVIDER_VERSION, PULUMI_CLI_VERSION } from "./versions";

const sourceFolder = join(__dirname, "..");

const pulumiCliBuild = goPart(
    { name: "pulumi-cli-build", version: PULUMI_CLI_VERSION, title: "Pulumi CLI, from its Go module", minutes: 2 },
    {
        sourceFolder,
        module: "pulumi-cli",
        packages: ["github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"],
        // The Automation API refuses a CLI without a version.
        variables: { "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": `v${PULUMI_CLI_VERSION}` },
    },
);

/**
 * Registers each kind of the components that read YAML by its name, as the provider does for kinds that it does not
 * know. The published code has a type for each kind, from packages that took two thirds of the compilation.
 */
const kindsByName = [
    { from: /(?:\t(?:\w+ )?"github\.com\/pulumi\/pulumi-kubernetes\/sdk\/v4\/go\/kubernetes\/[^"]*"\n)+/, to: "" },
    {
        from: /\tfullKind := [^\n]*\n\tswitch fullKind \{\n\tcase "[^"]*":\n\t\tvar res [^]*$/,
        to: `\tif apiVersion == "v1" {
\t\tapiVersion = "core/v1"
\t}
\tvar res struct{ pulumi.CustomResourceState }
\terr := ctx.RegisterResource(fmt.Sprintf("kubernetes:%s:%s", apiVersion, kind), name, props, &res, opts...)
\treturn &res, err
}
`,
    },
];

const pulumiKubernetesBuild = goPart(
    {
        name: "pulumi-kubernetes-build",
        version: KUBERNETES_PROVIDER_VERSION,
        title: "Pulumi Kubernetes provider, from its Go module",
        minutes: 2,
    },
    {
        sourceFolder,
        module: "pulumi-kubernetes",
        packages: ["./pulumi-resource-kubernetes"],
        patch: {
            module: "github.com/pulumi/pulumi-kubernetes/sdk/v4",
            files: { "go/kubernetes/yaml/v2/kinds.go": kindsByName },
        },
    },
);

const pulumiCli: InstalledPart = {
    kind: "installed",
    name: "pulumi-cli",
    version: PULUMI_CLI_VERSION,
    title: "Pulumi CLI",
    minutes: 2,
    isCompiled: true,
    needs: [],
    isPresent: async () => existsSync(cliPath()),
    async install(workshop) {
        if (!(await downloadCli(workshop))) await installBuilt(pulumiCliBuild, "pulumi", cliPath(), workshop);
    },
};

const tokenOfResource = `\ttoken, _ := n.GetToken()
\tentries := []syn.ObjectPropertyDef{
\t\tg.TypeProperty(collapseToken(token)),`;

const linkNothing = `func (host *yamlLanguageHost) Link(
\tcontext.Context, *pulumirpc.LinkRequest,
) (*pulumirpc.LinkResponse, error) {
\treturn &pulumirpc.LinkResponse{}, nil
}

`;

/** The newest YAML host that is published was made for an older CLI, which did not ask it to link packages. */
const yamlForThisCli = {
    "pkg/pulumiyaml/packages.go": [{ from: "packages, nil, nil)", to: "packages, nil, nil, nil)" }],
    "pkg/pulumiyaml/codegen/convert.go": [{ from: "cwd, nil, true, nil)", to: "cwd, nil, true, nil, nil)" }],
    "pkg/pulumiyaml/codegen/gen_program.go": [
        {
            from: "\tentries := []syn.ObjectPropertyDef{\n\t\tg.TypeProperty(collapseToken(n.Token)),",
            to: tokenOfResource,
        },
    ],
    "pkg/server/server.go": [
        { from: "func (host *yamlLanguageHost) Pack(ctx", to: `${linkNothing}func (host *yamlLanguageHost) Pack(ctx` },
    ],
};

const languagesBuild = goPart(
    {
        name: "pulumi-languages-build",
        version: PULUMI_CLI_VERSION,
        title: "Pulumi's language hosts of YAML and Python, from Go modules",
        minutes: 1,
    },
    {
        sourceFolder,
        module: "pulumi-languages",
        packages: ["github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml", "./pulumi-language-python"],
        patch: { module: "github.com/pulumi/pulumi-yaml", files: yamlForThisCli },
        copies: { python: { module: "github.com/pulumi/pulumi/sdk/v3", folder: "python/cmd" } },
    },
);

/** The SDK's program that runs programs, which the host starts. It is beside the host. */
const pythonExecutor = "pulumi-language-python-exec";

/** A release of the CLI has them. */
const pulumiLanguages: InstalledPart = {
    kind: "installed",
    name: "pulumi-languages",
    version: PULUMI_CLI_VERSION,
    title: "Pulumi's language hosts of YAML and Python",
    minutes: 1,
    isCompiled: true,
    needs: [pulumiCli],
    isPresent: async () =>
        ["pulumi-language-yaml", "pulumi-language-python", pythonExecutor].every((one) => existsSync(besideCli(one))),
    async install(workshop) {
        for (const host of ["pulumi-language-yaml", "pulumi-language-python"])
            await installBuilt(languagesBuild, host, besideCli(host), workshop);
        await installBuilt(languagesBuild, join("python", pythonExecutor), besideCli(pythonExecutor), workshop);
        chmodSync(besideCli(pythonExecutor), 0o755);
    },
};

/** A provider: its release, or what replaces it where releases are out of reach. */
function providerPart(
    provider: string,
    about: Pick<InstalledPart, "version" | "title" | "minutes" | "isCompiled">,
    replace: (workshop: Workshop) => Promise<void>,
): InstalledPart {
    return {
        kind: "installed",
        name: `pulumi-${provider}`,
        needs: [pulumiCli],
        ...about,
        isPresent: async () => existsSync(pluginPath(provider, about.version)),
        async install(workshop) {
            if (!(await installPluginRelease(provider, about.version, workshop))) await replace(workshop);
        },
    };
}

const pulumiKubernetes = providerPart(
    "kubernetes",
    { version: KUBERNETES_PROVIDER_VERSION, title: "Pulumi Kubernetes provider", minutes: 2, isCompiled: true },
    (workshop) => {
        const target = pluginPath("kubernetes", KUBERNETES_PROVIDER_VERSION);
        return installBuilt(pulumiKubernetesBuild, "pulumi-resource-kubernetes", target, workshop);
    },
);

const pulumiCommand = providerPart(
    "command",
    { version: COMMAND_PROVIDER_VERSION, title: "Pulumi command provider", minutes: 0.1 },
    () => installStandIns(cachePaths().pulumiHome),
);

/** For tests of programs in YAML and Python: `preparePulumi` comes first. */
export const ensureLanguages = (): Promise<void> => ensureParts([pulumiLanguages]);

/** The CLI, its Node language host, and the two providers. */
export const pulumiParts = [pulumiCli, pulumiKubernetes, pulumiCommand];

/** Installs {@link pulumiParts} where they are missing, and updates the stand-ins, which is cheap. */
export async function ensurePulumi(): Promise<void> {
    await ensureParts(pulumiParts);
    await installStandIns(cachePaths().pulumiHome);
}
