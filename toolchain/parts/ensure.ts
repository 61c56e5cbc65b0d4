import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { withLock } from "./lock";
import { type Part, type Workshop, withNeeds } from "./part";
import { cachePaths } from "./paths";
import { makeStored, removeUnfinished, stateOf } from "./store";

/** A part could not be built. The message gives the reason, the log, and how to continue. */
class PartError extends Error {
    constructor(part: string, log: string, cause: unknown) {
        const why = cause instanceof Error ? cause.message : String(cause);
        super(
            `${part} could not be built: ${why}\nFull log: ${log}\n` +
                "Finished parts are kept. Fix the cause and run the same command again.",
            { cause },
        );
    }
}

/**
 * Builds the given parts and all that they need, as far as they are missing.
 *
 * With nothing missing it takes a fraction of a second and reports nothing. A second process waits for the first, then
 * builds what is still missing. After an interruption at any point the next call repairs what is left.
 *
 * @throws {PartError} when a part cannot be built.
 */
export async function ensureParts(wanted: readonly Part[]): Promise<void> {
    const parts = withNeeds(wanted);
    if ((await missingOf(parts)).length === 0) return;
    const { cache, logs } = cachePaths();
    mkdirSync(logs, { recursive: true });
    const onWait = (pid: string) => console.error(`Another process (${pid}) is building; waiting for it`);
    await withLock(join(cache, "parts.lock"), onWait, async () => {
        removeUnfinished();
        const plan = await missingOf(parts);
        if (plan.length > 0) await makeAll(plan);
    });
}

/**
 * Go compiles with all cores, one program after the other. Debian's packages and the images, which take one core and
 * the disk, are made meanwhile; that saves 40 s. When a part fails, no other one begins, and what runs is ended.
 */
async function makeAll(plan: readonly Part[]): Promise<void> {
    // Only here: it takes longer to load than to find that all are there.
    const { PartsProgress } = await import("./progress.js");
    const progress = new PartsProgress(plan);
    const failure = new AbortController();
    const made = new Map<Part, Promise<void>>();
    let [compiled, others] = [Promise.resolve(), Promise.resolve()];
    for (const [index, part] of plan.entries()) {
        const before = [part.isCompiled ? compiled : others, ...part.needs.flatMap((need) => made.get(need) ?? [])];
        const making = Promise.all(before).then(async () => {
            failure.signal.throwIfAborted();
            const shown = progress.begin(index);
            await make(part, shown.line, failure.signal).then(shown.finished, (error: unknown) => {
                shown.failed();
                failure.abort(error);
                throw error;
            });
        });
        made.set(part, making);
        if (part.isCompiled) compiled = making;
        else others = making;
    }
    await Promise.allSettled(made.values());
    progress.end();
    failure.signal.throwIfAborted();
}

async function missingOf(parts: readonly Part[]): Promise<Part[]> {
    const missing = await Promise.all(parts.map(async (each) => !(await isThere(each))));
    return parts.filter((_, index) => missing[index]);
}

async function isThere(part: Part): Promise<boolean> {
    return ["made", "unneeded"].includes(await stateOf(part));
}

async function make(part: Part, onLine: (line: string) => void, ended: AbortSignal): Promise<void> {
    // It may have been provided to another one.
    if (await isThere(part)) return;
    const file = join(cachePaths().logs, `${part.name}.log`);
    rmSync(file, { force: true });
    const workshop: Workshop = {
        log: { file, onLine, ended },
        async provide(wanted) {
            for (const needed of withNeeds([wanted])) await make(needed, onLine, ended);
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
