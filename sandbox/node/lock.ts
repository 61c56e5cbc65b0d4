import { takeLock } from "../../toolchain/parts/lock";
import type { NodeLayout } from "./layout";
import type { NodeReporter } from "./progress";

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
