import { withLock } from "../../toolchain/parts/lock";
import { layout } from "./layout";

let startedMs = 0;

/** Shows that a step of starting or stopping the node begins: a line, with the time since the first. */
export function step(text: string): void {
    const seconds = ((Date.now() - startedMs) / 1000).toFixed(1).padStart(5);
    process.stderr.write(`${seconds} s  ${text}\n`);
}

export const detail = (text: string) => step(`  ${text}`);

/** Runs `work` after any other `up`, `down` or `destroy` of this user's node has ended. */
export function withNodeLock<T>(work: () => Promise<T>): Promise<T> {
    startedMs = Date.now();
    const onWait = (pid: string) =>
        step(`Another process (${pid}) is starting or stopping the sandbox; waiting for it`);
    return withLock(layout.lock, onWait, work);
}
