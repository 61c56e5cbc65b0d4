import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pipeline } from "node:stream/promises";

/** Written beside a part's files when it is built. What else it contains is for people. */
interface Manifest {
    readonly files: readonly ManifestFile[];
}

interface ManifestFile {
    /** Relative to the part's folder. */
    readonly path: string;
    readonly bytes: number;
    readonly modifiedMs: number;
}

const MANIFEST = "manifest.json";

/** Writes the manifest of a part's folder: each file with its size and time. Links are left out. */
export function writeManifest(folder: string, about: object): void {
    const files = regularFiles(folder).map((path): ManifestFile => {
        const { size, mtimeMs } = statSync(join(folder, path));
        return { path, bytes: size, modifiedMs: Math.trunc(mtimeMs) };
    });
    writeFileSync(join(folder, MANIFEST), `${JSON.stringify({ ...about, files }, null, 4)}\n`);
}

/** Reads a part's manifest; undefined if it is missing or incomplete. */
export function readManifest(folder: string): Manifest | undefined {
    if (!existsSync(join(folder, MANIFEST))) return undefined;
    try {
        return JSON.parse(readFileSync(join(folder, MANIFEST), "utf8")) as Manifest;
    } catch (error) {
        if (error instanceof SyntaxError) return undefined;
        throw error;
    }
}

/** The files of a part whose size or time changed since they were built. */
export function damagedFiles(folder: string, manifest: Manifest): string[] {
    const isDamaged = ({ path, bytes, modifiedMs }: ManifestFile) => {
        const found = statSync(join(folder, path), { throwIfNoEntry: false });
        return found?.size !== bytes || Math.trunc(found.mtimeMs) !== modifiedMs;
    };
    return manifest.files.filter(isDamaged).map(({ path }) => path);
}

export async function sha256(file: string): Promise<string> {
    const hash = createHash("sha256");
    await pipeline(createReadStream(file), hash);
    return hash.digest("hex");
}

function regularFiles(folder: string): string[] {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
        .filter((path) => path !== MANIFEST);
}
