import { chmod, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { bundledFile } from "../../shared/bundle";

/** The Pulumi release that the stand-ins serve; the CLI lies under this version in Pulumi's home. */
export const PULUMI_CLI_VERSION = "3.232.0";

/** The command provider's version, as `@pulumi/command` in package.json pins it. */
export const COMMAND_PROVIDER_VERSION = "1.2.1";

/** Every stand-in begins with this, and no official plugin does: those are machine code. */
const HEAD = `#!/usr/bin/env node
// chaos-shop stand-in, made by sandbox/pulumi; it gives way to the official plugin.
`;

interface StandIn {
    readonly entryPoint: string;
    /** Where the plugin belongs, relative to Pulumi's home. */
    readonly path: string;
}

const standIns: readonly StandIn[] = [
    {
        entryPoint: join(__dirname, "language-host", "main.ts"),
        path: join("versions", PULUMI_CLI_VERSION, "bin", "pulumi-language-nodejs"),
    },
    {
        entryPoint: join(__dirname, "command-provider", "main.ts"),
        path: join("plugins", `resource-command-v${COMMAND_PROVIDER_VERSION}`, "pulumi-resource-command"),
    },
];

/**
 * Puts the two stand-ins, the Node language host and the command provider, where the Pulumi CLI looks for plugins.
 *
 * An official plugin is never touched. A stand-in that is already there is renewed if it would come out differently,
 * so that this may be called again at any time; each file is exchanged in one step, also under a running engine.
 *
 * @param pulumiHome `$PULUMI_HOME`, usually `~/.pulumi`; folders that lack are made.
 * @throws an error of the file system or the bundler, naming the file.
 */
export async function installStandIns(pulumiHome: string): Promise<void> {
    await Promise.all(standIns.map((standIn) => install(standIn, join(pulumiHome, standIn.path))));
}

async function install({ entryPoint }: StandIn, path: string): Promise<void> {
    const present = await headOf(path);
    if (present !== undefined && present !== HEAD) {
        return; // The official plugin.
    }
    const text = HEAD + (await readFile(bundledFile(entryPoint), "utf8"));
    if (present === undefined || !(await holds(path, text))) {
        await mkdir(dirname(path), { recursive: true });
        const unfinished = `${path}.${process.pid}.new`;
        await writeFile(unfinished, text);
        await chmod(unfinished, 0o755);
        await rename(unfinished, path);
    }
    // A download that broke off leaves this beside the plugin's folder, and the engine then passes the folder over.
    await rm(`${dirname(path)}.partial`, { force: true });
}

/** The first bytes of a file, as many as {@link HEAD} has; undefined if there is no file. */
async function headOf(path: string): Promise<string | undefined> {
    const file = await openIfThere(path);
    if (!file) {
        return undefined;
    }
    try {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD.length), 0, HEAD.length, 0);
        return buffer.toString("latin1", 0, bytesRead);
    } finally {
        await file.close();
    }
}

async function holds(path: string, text: string): Promise<boolean> {
    const file = await openIfThere(path);
    try {
        return (await file?.readFile("utf8")) === text;
    } finally {
        await file?.close();
    }
}

async function openIfThere(path: string) {
    try {
        return await open(path, "r");
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") {
            return undefined;
        }
        throw error;
    }
}
