/** The package as npm packs it: this version, and released ones. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Tarball } from "../../cli/release-checks";
import { project } from "../../cli/stack-file";
import { withLock } from "../../toolchain/parts/lock";
import { run } from "./run-program";

export const packageName = "pulumi-chaos-experiments";

const releases = join(project, "test", "e2e", "experiments", "earlier");
/** The paths of the tarballs of released versions, by version, the oldest first. */
export const released: Readonly<Record<string, string>> = Object.fromEntries(
    readdirSync(releases)
        .filter((file) => file.endsWith(".tgz"))
        .sort((one, other) => one.localeCompare(other, "en", { numeric: true }))
        .map((file) => [file.slice(`${packageName}-`.length, -".tgz".length), join(releases, file)]),
);

/** Packs this version into a folder. One at a time: each build replaces that of another file's tests. */
export function pack(folder: string): Promise<Tarball & { path: string }> {
    const lock = join(project, "node_modules", ".cache", "chaos-shop", "pack.lock");
    const packNow = async () => {
        const args = ["pack", "--json", "--silent", "--pack-destination", folder];
        const { stdout } = await run("npm", args, { cwd: join(project, "chaos") });
        const [{ filename, ...tarball }] = JSON.parse(stdout) as [Tarball & { filename: string }];
        return { ...tarball, path: join(folder, filename) };
    };
    return withLock(lock, () => undefined, packNow);
}

/** @returns the folder with a tarball's files, in an existing folder */
export function unpack(tarball: string, folder: string): string {
    execFileSync("tar", ["--extract", "--file", tarball, "--directory", folder]);
    return join(folder, "package");
}
