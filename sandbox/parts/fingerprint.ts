import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { StoredPart } from "./part";

/** The sandbox's own folder, to which a part's sources are relative. */
export const SANDBOX_FOLDER = resolve(__dirname, "..");

/**
 * The hash of everything that decides what a stored part becomes: its pinned version, its recipe, its source files, the
 * machine's architecture, and the same of every stored part that it needs. Equal hashes mean that it need not be made.
 *
 * @param neededFingerprints the fingerprints of the stored parts among `part.needs`.
 * @returns 16 hexadecimal digits.
 */
export function fingerprintOf(
    part: Pick<StoredPart, "name" | "version" | "recipe" | "sources">,
    neededFingerprints: readonly string[],
    sandboxFolder = SANDBOX_FOLDER,
): string {
    const hash = createHash("sha256");
    hash.update(JSON.stringify([part.name, part.version, process.arch, part.recipe, neededFingerprints]));
    for (const source of [...part.sources].sort()) {
        for (const file of filesUnder(sandboxFolder, source)) {
            const content = readFileSync(join(sandboxFolder, file));
            hash.update(`\0${file}\0${content.length}\0`).update(content);
        }
    }
    return hash.digest("hex").slice(0, 16);
}

function filesUnder(root: string, path: string): string[] {
    if (!statSync(join(root, path)).isDirectory()) return [path];
    return readdirSync(join(root, path))
        .sort()
        .flatMap((entry) => filesUnder(root, join(path, entry)));
}
