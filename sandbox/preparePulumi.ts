import { PulumiCommand } from "@pulumi/pulumi/automation";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { ensureParts } from "./parts/ensure";
import { unsuitableBecause } from "./parts/host";
import { cliPath } from "./parts/pulumi-home";
import { pulumiEnvironment } from "./pulumi/environment";
import { PULUMI_CLI_VERSION } from "./pulumi/install";

/**
 * Makes Pulumi ready for this process and all that it starts: the CLI and its plugins, got where they are missing, and
 * a backend where the user has none.
 *
 * On a machine that the sandbox cannot run on, a Mac say, nothing is built: the CLI is the official release, and the engine
 * downloads its plugins when it first needs them.
 *
 * @param project the project's folder, beside which a backend of its own is kept
 * @throws Error where the CLI is not there and cannot be got, saying how to go on
 */
export async function preparePulumi(project: string): Promise<PulumiCommand> {
    if (unsuitableBecause() === undefined) await ensureParts("pulumi");
    else if (!existsSync(cliPath("pulumi"))) console.error("Downloading the Pulumi CLI from https://get.pulumi.com");
    Object.assign(process.env, pulumiEnvironment(project));
    // Takes what is there, of the SDK's own version.
    const root = join(dirname(cliPath("pulumi")), "..");
    return PulumiCommand.install({ root }).catch((error: Error) => {
        throw new Error(
            `The Pulumi CLI is not in ${root}/bin, and cannot be got: ${error.message}. Mend that, or put Pulumi ${PULUMI_CLI_VERSION} there, and run the same command again.`,
        );
    });
}
