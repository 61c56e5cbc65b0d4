import { takeLock } from "../parts/lock";
import type { NodeLayout } from "./layout";
import type { NodeReporter } from "./progress";

/** Runs `work` while no other `up`, `down` or `destroy` of this user's node runs, after waiting for one that does. */
export async function withNodeLock<T>(layout: NodeLayout, reporter: NodeReporter, work: () => Promise<T>): Promise<T> {
    const lock = await takeLock(layout.lock, (pid) =>
        reporter.step(`Another process (${pid}) is bringing the sandbox up or down; waiting for it`),
    );
    try {
        return await work();
    } finally {
        await lock.release();
    }
}
