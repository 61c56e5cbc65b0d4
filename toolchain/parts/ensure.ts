import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { takeLock } from "./lock";
import { type Part, type Workshop, withNeeds } from "./part";
import { cachePaths } from "./paths";
import type { PartsProgress } from "./progress";
import { makeStored, removeUnfinished, storedState } from "./store";

/** A part could not be built. The message gives the reason, the log, and how to continue. */
class PartError extends Error {
    constructor(
        readonly part: string,
        readonly log: string,
        cause: unknown,
    ) {
        const why = cause instanceof Error ? cause.message : String(cause);
        super(
            `${part} could not be built: ${why}\nFull log: ${log}\n` +
                "Finished parts are kept. Fix the cause and run the same command again.",
            { cause },
        );
        this.name = "PartError";
    }
}

/**
 * Builds the given parts and all that they need, as far as they are missing, one after the other.
 *
 * With nothing missing it takes a fraction of a second and reports nothing. A second process waits for the first, then
 * builds what is still missing. After an interruption at any point the next call repairs what is left.
 *
 * The progress is shown on standard error.
 *
 * @throws {PartError} when a part cannot be built.
 */
export async function ensureParts(wanted: readonly Part[]): Promise<void> {
    const parts = withNeeds(wanted);
    if ((await missingOf(parts)).length > 0) await makeMissing(parts);
}

async function makeMissing(parts: readonly Part[]): Promise<void> {
    const { cache, logs } = cachePaths();
    mkdirSync(logs, { recursive: true });
    // Only here: it takes longer to load than to find that all are there.
    const { PartsProgress } = await import("./progress.js");
    const progress = new PartsProgress();
    const lock = await takeLock(join(cache, "parts.lock"), progress.waiting);
    try {
        await removeUnfinished();
        const plan = await missingOf(parts);
        if (plan.length > 0) await makeAll(plan, progress);
    } finally {
        progress.end();
        await lock.release();
    }
}

async function makeAll(plan: readonly Part[], progress: PartsProgress): Promise<void> {
    progress.begin(plan);
    for (const part of plan) {
        progress.started();
        try {
            await make(part, progress.line);
        } catch (error) {
            progress.failed();
            throw error;
        }
        progress.finished();
    }
}

async function missingOf(parts: readonly Part[]): Promise<Part[]> {
    const missing = await Promise.all(parts.map(async (each) => !(await isThere(each))));
    return parts.filter((_, index) => missing[index]);
}

async function isThere(part: Part): Promise<boolean> {
    if (part.kind === "installed") return part.isPresent();
    return part.isUnneeded?.() === true || storedState(part) === "made";
}

async function make(part: Part, onLine: (line: string) => void): Promise<void> {
    const file = join(cachePaths().logs, `${part.name}.log`);
    rmSync(file, { force: true });
    const workshop: Workshop = {
        log: { file, onLine },
        async provide(wanted) {
            for (const needed of withNeeds([wanted])) {
                if (!(await isThere(needed))) await make(needed, onLine);
            }
        },
    };
    try {
        if (part.kind === "stored") await makeStored(part, workshop);
        else await part.install(workshop);
    } catch (error) {
        if (error instanceof PartError) throw error; // From a part that this one needs.
        appendFileSync(file, `${String(error)}\n`);
        throw new PartError(part.name, file, error);
    }
}
