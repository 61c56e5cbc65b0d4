import { PulumiCommand } from "@pulumi/pulumi/automation";
import { existsSync } from "node:fs";
import { unsuitableBecause } from "./parts/host";
import { pulumiEnvironment } from "./pulumi/environment";
import { cliPath, cliRoot } from "./pulumi/home";
import { ensurePulumi } from "./pulumi/parts";
import { PULUMI_CLI_VERSION } from "./pulumi/versions";

/**
 * Sets Pulumi up for this process and all that it starts: installs the CLI and its plugins if they are missing, and
 * chooses a backend if the user has none.
 *
 * Where parts cannot be built, for example on a Mac, the CLI is the official release, and the engine downloads its
 * plugins when it first needs them.
 *
 * @param project the project's folder; the backend is kept there
 * @throws Error with the remedy, if the CLI is missing and cannot be installed
 */
export async function preparePulumi(project: string): Promise<PulumiCommand> {
    if (unsuitableBecause() === undefined) await ensurePulumi();
    else if (!existsSync(cliPath())) console.error("Downloading the Pulumi CLI from https://get.pulumi.com");
    Object.assign(process.env, pulumiEnvironment(project));
    // Uses the CLI that is there, if it has the SDK's version.
    const root = cliRoot();
    return PulumiCommand.install({ root }).catch((error: Error) => {
        throw new Error(
            `The Pulumi CLI is not in ${root}/bin, and the download failed: ${error.message}. Fix that, or put ` +
                `Pulumi ${PULUMI_CLI_VERSION} there, and run the same command again.`,
        );
    });
}
