import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type BuildLog, run } from "./run";

/** Unpacks packages of this machine's release into a folder without installing them. apt checks signatures. */
export async function unpackPackages(names: readonly string[], root: string, log: BuildLog): Promise<void> {
    const archives = `${root}.debs`;
    await mkdir(archives, { recursive: true });
    await updatePackageLists(log);
    // As root: apt's own download user cannot write below root's cache, and apt warns about that at length.
    await run("apt-get", ["download", "-o", "APT::Sandbox::User=root", ...names], log, { cwd: archives });
    for (const archive of await readdir(archives)) await run("dpkg-deb", ["-x", join(archives, archive), root], log);
    await rm(archives, { recursive: true });
}

let lists: Promise<unknown> | undefined;

/** Runs `apt-get update` once per process. If it fails, older lists may do; if not, the install reports it. */
export async function updatePackageLists(log: BuildLog): Promise<void> {
    lists ??= run("apt-get", ["update", "-o", "DPkg::Lock::Timeout=300"], log).catch(() => undefined);
    await lists;
}
