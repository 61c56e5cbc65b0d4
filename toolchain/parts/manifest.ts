import { createHash } from "node:crypto";
import { createReadStream, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import { isDeepStrictEqual } from "node:util";

/** Written beside a part's files when it is built: their paths in its folder. What else it contains is for people. */
interface Manifest {
    readonly files: readonly { readonly path: string; readonly bytes: number; readonly modifiedMs: number }[];
}

const MANIFEST = "manifest.json";

/** Writes the manifest of a part's folder: each file with its size and time. Links are left out. */
export function writeManifest(folder: string, about: object): void {
    const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
    const files = paths.map((path) => ({ path, ...stateOf(join(folder, path)) }));
    writeFileSync(join(folder, MANIFEST), `${JSON.stringify({ ...about, files }, null, 4)}\n`);
}

/** Reads a part's manifest; undefined if it is missing or incomplete. */
export function readManifest(folder: string): Manifest | undefined {
    try {
        return JSON.parse(readFileSync(join(folder, MANIFEST), "utf8")) as Manifest;
    } catch {
        return undefined;
    }
}

/** The files of a part whose size or time changed since they were built. */
export function damagedFiles(folder: string, { files }: Manifest): string[] {
    const isDamaged = ({ path, ...state }: Manifest["files"][number]) =>
        !isDeepStrictEqual(stateOf(join(folder, path)), state);
    return files.filter(isDamaged).map(({ path }) => path);
}

function stateOf(file: string) {
    const found = statSync(file, { throwIfNoEntry: false });
    return found && { bytes: found.size, modifiedMs: Math.trunc(found.mtimeMs) };
}

export async function sha256(file: string): Promise<string> {
    const hash = createHash("sha256");
    await pipeline(createReadStream(file), hash);
    return hash.digest("hex");
}
