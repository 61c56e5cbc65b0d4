import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { installStandIns } from "../pulumi/install";
import { withdrawServicePolicy } from "./debian";
import { requireSandboxHost } from "./host";
import { takeLock } from "./lock";
import type { Part, PartName, Workshop } from "./part";
import { sandboxPaths } from "./paths";
import { type PartsReporter, reporterFor } from "./reporter";
import { folderOf, makeStored, removeUnfinished, storedState } from "./store";
import { part, partsFor, type PartsWanted } from "./table";

/** A part that could not be made; its message says why, where its log is, and how to go on. */
export class PartError extends Error {
    constructor(
        readonly part: PartName,
        readonly log: string,
        cause: unknown,
    ) {
        const why = cause instanceof Error ? cause.message : String(cause);
        super(
            `The sandbox's part ${part} could not be made: ${why}\n` +
                `Its whole log: ${log}\n` +
                "What is made so far is kept. Mend the cause and run the same command again.",
            { cause },
        );
        this.name = "PartError";
    }
}

/**
 * Sees to it that the parts asked for are there, making what is missing, one after another.
 *
 * With nothing missing it takes a fraction of a second and reports nothing. Only one process makes parts at a time;
 * a second one waits, then makes what is still missing. Cut short at any moment, the next call repairs what is left.
 *
 * @param wanted `pulumi`: the CLI, its language host and its two providers; `cluster`: what the node runs; `all`: both;
 *   `helm`: Helm.
 * @param reporter hears the progress. @default a live list on a terminal, lines in a log, on standard error
 * @throws {UnsuitableHostError} where the sandbox cannot be set up at all, if anything is missing.
 * @throws {PartError} when a part cannot be made.
 */
export async function ensureParts(wanted: PartsWanted, reporter?: PartsReporter): Promise<void> {
    const parts = partsFor(wanted);
    if ((await missingOf(parts)).length > 0) await makeMissing(parts, reporter ?? (await reporterFor()));
    // Cheap, and it follows their sources in the checkout.
    if (wanted === "pulumi" || wanted === "all") await installStandIns(sandboxPaths().pulumiHome);
}

async function makeMissing(parts: readonly Part[], reporter: PartsReporter): Promise<void> {
    requireSandboxHost();
    const { cache, logs } = sandboxPaths();
    mkdirSync(logs, { recursive: true });
    const lock = await takeLock(join(cache, "parts.lock"), (pid) => reporter.waiting(pid));
    try {
        await removeUnfinished();
        await withdrawServicePolicy();
        const plan = await missingOf(parts);
        if (plan.length === 0) return;
        reporter.begin(plan);
        for (const [index, missing] of plan.entries()) {
            reporter.started(index);
            const startedMs = Date.now();
            try {
                await make(missing, (line) => reporter.line(line));
            } catch (error) {
                reporter.failed(index);
                throw error;
            }
            reporter.finished(index, (Date.now() - startedMs) / 1000);
        }
    } finally {
        await reporter.end();
        await lock.release();
    }
}

async function missingOf(parts: readonly Part[]): Promise<Part[]> {
    const missing = await Promise.all(parts.map(async (each) => !(await isThere(each))));
    return parts.filter((_, index) => missing[index]);
}

async function isThere(what: Part): Promise<boolean> {
    if (what.kind === "installed") return what.isPresent();
    return what.isUnneeded?.() === true || (await storedState(what)) === "made";
}

async function make(what: Part, onLine: (line: string) => void): Promise<void> {
    const file = join(sandboxPaths().logs, `${what.name}.log`);
    rmSync(file, { force: true });
    const workshop: Workshop = {
        log: { file, onLine },
        folderOf,
        async provide(name) {
            for (const needed of [...part(name).needs, name].map(part)) {
                if (!(await isThere(needed))) await make(needed, onLine);
            }
        },
    };
    try {
        if (what.kind === "stored") await makeStored(what, workshop);
        else await what.install(workshop);
    } catch (error) {
        if (error instanceof PartError) throw error; // Of a part that this one needed.
        appendFileSync(file, `${String(error)}\n`);
        throw new PartError(what.name, file, error);
    }
}
