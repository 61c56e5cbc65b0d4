import { copyFileSync, linkSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { StoredPart, Workshop } from "../parts/part";
import { cachePaths } from "../parts/paths";
import { folderOf } from "../parts/store";
import { PULUMI_CLI_VERSION } from "./versions";

/** The CLI's own folder; the Automation API and the npm package `pulumi` look for it there. */
export const cliRoot = () => join(cachePaths().pulumiHome, "versions", PULUMI_CLI_VERSION);

/** The path of a program beside the CLI, where it looks for language hosts. */
export const besideCli = (program: string) => join(cliRoot(), "bin", program);

export const cliPath = () => besideCli("pulumi");

/** The path of a provider in Pulumi's home. */
export function pluginPath(provider: string, version: string): string {
    return join(cachePaths().pulumiHome, "plugins", `resource-${provider}-v${version}`, `pulumi-resource-${provider}`);
}

/** Builds a part and links its program, to save disk space, to where Pulumi looks for it. */
export async function installBuilt(
    part: StoredPart,
    program: string,
    target: string,
    workshop: Workshop,
): Promise<void> {
    await workshop.provide(part);
    const built = join(folderOf(part), program);
    // Left by an interrupted download; the CLI would consider the plugin half installed.
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
