import { removeTree, storedState, supersededFolders, folderOf } from "./store";
import type { Part, PartName } from "./part";
import { partsFor, type PartsWanted } from "./table";
import { readManifest } from "./manifest";

/** How a part stands: `unneeded` where the machine has its own, `damaged` where a file is not as it was made. */
export type PartState = "made" | "missing" | "damaged" | "unneeded";

/** One part, as `status` shows it. */
export interface PartStatus {
    readonly name: PartName;
    readonly title: string;
    readonly version: string;
    readonly state: PartState;
    /** Where it is, of a stored part that is made. */
    readonly folder?: string;
    readonly bytes?: number;
    /** ISO 8601. */
    readonly madeAt?: string;
    /** How long it took. */
    readonly seconds?: number;
}

/**
 * Looks at each part without changing anything.
 *
 * @param thorough compares the SHA-256 of every file with what it was when it was made: some seconds for all.
 */
export async function partsStatus(wanted: PartsWanted = "all", thorough = false): Promise<PartStatus[]> {
    const statuses: PartStatus[] = [];
    for (const part of partsFor(wanted)) statuses.push(await statusOf(part, thorough));
    return statuses;
}

async function statusOf(part: Part, thorough: boolean): Promise<PartStatus> {
    const { name, title, version } = part;
    if (part.kind === "installed")
        return { name, title, version, state: (await part.isPresent()) ? "made" : "missing" };
    const state = await storedState(part, thorough);
    if (state === "missing" && part.isUnneeded?.()) return { name, title, version, state: "unneeded" };
    const manifest = readManifest(folderOf(name));
    if (!manifest) return { name, title, version, state };
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
    const { madeAt, seconds } = manifest;
    return { name, title, version, state, folder: folderOf(name), bytes, madeAt, seconds };
}

/**
 * Removes parts whose inputs have changed since they were made. Call it when no node runs: it may run from one of them.
 *
 * @returns the folders removed.
 */
export async function removeSupersededParts(): Promise<string[]> {
    const superseded = supersededFolders();
    for (const folder of superseded) await removeTree(folder);
    return superseded;
}
