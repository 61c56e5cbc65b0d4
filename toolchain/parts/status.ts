import { readManifest } from "./manifest";
import type { Part } from "./part";
import { folderOf, storedState } from "./store";

/** `unneeded`: the machine has an equivalent. `damaged`: a file differs from when it was built. */
type PartState = "made" | "missing" | "damaged" | "unneeded";

/** One part, as `status` shows it. */
export interface PartStatus {
    readonly name: string;
    readonly title: string;
    readonly version: string;
    readonly state: PartState;
    /** Of a stored part that is there. */
    readonly folder?: string;
    readonly bytes?: number;
    /** ISO 8601. */
    readonly madeAt?: string;
    /** Duration of the build. */
    readonly seconds?: number;
}

/** The state of each part. Changes nothing. */
export async function partsStatus(parts: readonly Part[]): Promise<PartStatus[]> {
    const statuses: PartStatus[] = [];
    for (const part of parts) statuses.push(await statusOf(part));
    return statuses;
}

async function statusOf(part: Part): Promise<PartStatus> {
    const { name, title, version } = part;
    if (part.kind === "installed")
        return { name, title, version, state: (await part.isPresent()) ? "made" : "missing" };
    const state = storedState(part);
    if (state === "missing" && part.isUnneeded?.()) return { name, title, version, state: "unneeded" };
    const folder = folderOf(part);
    const manifest = readManifest(folder);
    if (!manifest) return { name, title, version, state };
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
    const { madeAt, seconds } = manifest;
    return { name, title, version, state, folder, bytes, madeAt, seconds };
}
