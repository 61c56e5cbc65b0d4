import { PulumiCommand } from "@pulumi/pulumi/automation";
import { dirname, join } from "node:path";
import { ensureParts } from "./parts/ensure";
import { cliPath } from "./parts/pulumi-home";
import { pulumiEnvironment } from "./pulumi/environment";

/**
 * Makes Pulumi ready for this process and all that it starts: the CLI and its plugins, got where they are missing, and
 * a backend where the user has none.
 *
 * @param project the project's folder, beside which a backend of its own is kept
 */
export async function preparePulumi(project: string): Promise<PulumiCommand> {
    await ensureParts("pulumi");
    Object.assign(process.env, pulumiEnvironment(project));
    return PulumiCommand.get({ root: join(dirname(cliPath("pulumi")), "..") });
}
