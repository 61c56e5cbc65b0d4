import { copyFileSync, linkSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { PULUMI_CLI_VERSION } from "../pulumi/install";
import type { PartName, Workshop } from "./part";
import { sandboxPaths } from "./paths";

/** Where the CLI and its language host lie in Pulumi's home; the npm package `pulumi` looks in the same place. */
export function cliPath(program: "pulumi" | "pulumi-language-nodejs"): string {
    return join(sandboxPaths().pulumiHome, "versions", PULUMI_CLI_VERSION, "bin", program);
}

/** Where a provider lies in Pulumi's home. */
export function pluginPath(provider: string, version: string): string {
    return join(
        sandboxPaths().pulumiHome,
        "plugins",
        `resource-${provider}-v${version}`,
        `pulumi-resource-${provider}`,
    );
}

/** Makes a part, and puts its program where Pulumi looks for it. Hard-linked, so that it takes no more room. */
export async function installBuilt(part: PartName, program: string, target: string, workshop: Workshop): Promise<void> {
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
