import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { bundledFile, replaceFile } from "../bundle";
import { COMMAND_PROVIDER_VERSION, PULUMI_CLI_VERSION } from "./versions";

/** The first bytes of every stand-in, and of no official plugin: those are machine code. */
const MARK = "#!/usr/bin/env node\n// chaos-shop stand-in";
const HEAD = `${MARK}; an official plugin replaces it.\n`;

/** Their sources, and their paths in Pulumi's home. */
const standIns = {
    "language-host": join("versions", PULUMI_CLI_VERSION, "bin", "pulumi-language-nodejs"),
    "command-provider": join("plugins", `resource-command-v${COMMAND_PROVIDER_VERSION}`, "pulumi-resource-command"),
};

/**
 * Installs the two stand-ins, for the Node language host and the command provider, where the CLI looks for plugins.
 * Neither can be built from a package registry, and the official releases may be out of reach.
 *
 * Official plugins stay untouched. A stand-in that is there is updated if its content changed. Each file is replaced
 * atomically, also under a running engine.
 *
 * @param pulumiHome `$PULUMI_HOME`, usually `~/.pulumi`; missing folders are created.
 * @throws an error of the file system or the bundler, with the file's name.
 */
export async function installStandIns(pulumiHome: string): Promise<void> {
    await Promise.all(Object.entries(standIns).map(([source, path]) => install(source, join(pulumiHome, path))));
}

async function install(source: string, path: string): Promise<void> {
    const present = existsSync(path) ? await readFile(path) : undefined;
    if (present && !present.subarray(0, MARK.length).equals(Buffer.from(MARK))) return; // The official plugin.
    const content = Buffer.concat([
        Buffer.from(HEAD),
        await readFile(bundledFile(join(__dirname, source, `${source}.ts`))),
    ]);
    if (!present?.equals(content)) replaceFile(path, content, 0o755);
    // Left by an interrupted download; the engine would ignore the plugin's folder.
    await rm(`${dirname(path)}.partial`, { force: true });
}
