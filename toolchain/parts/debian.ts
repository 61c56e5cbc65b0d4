import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type BuildLog, run } from "./run";

/**
 * Downloads Debian packages and unpacks them into a folder without installing them. apt checks Debian's signatures.
 *
 * @returns the version of each package.
 */
export async function downloadDebianPackages(
    names: readonly string[],
    root: string,
    log: BuildLog,
): Promise<Record<string, string>> {
    const archives = `${root}.debs`;
    await mkdir(archives, { recursive: true });
    await updatePackageLists(log);
    // As root: apt's own download user cannot write below root's cache, and apt warns about that at length.
    await run("apt-get", ["download", "-o", "APT::Sandbox::User=root", ...names], log, { cwd: archives });
    const versions: Record<string, string> = {};
    for (const archive of (await readdir(archives)).map((entry) => join(archives, entry))) {
        await run("dpkg-deb", ["-x", archive, root], log);
        const shown = await run("dpkg-deb", ["--show", "--showformat=${Package} ${Version}", archive], log);
        const [name = "", version = ""] = shown.split(" ");
        versions[name] = version;
    }
    await rm(archives, { recursive: true });
    return versions;
}

let lists: Promise<unknown> | undefined;

/** Runs `apt-get update` once per process. If it fails, older lists may do; if not, the install reports it. */
export async function updatePackageLists(log: BuildLog): Promise<void> {
    lists ??= run("apt-get", ["update", "-o", "DPkg::Lock::Timeout=300"], log).catch(() => undefined);
    await lists;
}
