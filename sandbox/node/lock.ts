import { takeLock } from "../../toolchain/parts/lock";
import type { NodeLayout } from "./layout";

/** Shows the progress of starting or stopping the node. */
export interface NodeReporter {
    /** A step begins, and the previous one ends. */
    step(title: string): void;
    detail(text: string): void;
}

/** One line per step on standard error, with the time since the first. */
export function stderrReporter(): NodeReporter {
    const startedMs = Date.now();
    const say = (text: string) =>
        process.stderr.write(`${((Date.now() - startedMs) / 1000).toFixed(1).padStart(5)} s  ${text}\n`);
    return { step: say, detail: (text) => say(`  ${text}`) };
}

/** Runs `work` after any other `up`, `down` or `destroy` of this user's node has ended. */
export async function withNodeLock<T>(layout: NodeLayout, reporter: NodeReporter, work: () => Promise<T>): Promise<T> {
    const lock = await takeLock(layout.lock, (pid) =>
        reporter.step(`Another process (${pid}) is starting or stopping the sandbox; waiting for it`),
    );
    try {
        return await work();
    } finally {
        await lock.release();
    }
}
