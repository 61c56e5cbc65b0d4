import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { StoredPart } from "./part";

/**
 * Hashes all inputs of a stored part: version, recipe, source files, architecture, and the fingerprints of the stored
 * parts that it needs. A part is rebuilt when its hash changes.
 *
 * @param neededFingerprints the fingerprints of the stored parts among `part.needs`.
 * @returns 16 hexadecimal digits.
 */
export function fingerprintOf(
    part: Pick<StoredPart, "name" | "version" | "recipe" | "sources" | "sourceFolder">,
    neededFingerprints: readonly string[],
): string {
    const hash = createHash("sha256");
    hash.update(JSON.stringify([part.name, part.version, process.arch, part.recipe, neededFingerprints]));
    for (const source of [...part.sources].sort()) {
        for (const file of filesUnder(part.sourceFolder, source)) {
            const content = readFileSync(join(part.sourceFolder, file));
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
