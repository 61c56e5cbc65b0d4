import { setTimeout as sleep } from "node:timers/promises";
import { type Component, logPath, logTail, runningComponent } from "./processes";

/** A component ended, or did not start in time. The message contains what `logTail` gives. */
function componentError(component: Component["name"], what: string): Error {
    const lines = logTail(component).map((line) => `\n    ${line.slice(0, 400)}`);
    const tail = lines.length > 0 ? `, which says:${lines.join("")}` : "";
    return new Error(`${component} ${what}; its log is ${logPath(component)}${tail}`);
}

/** @throws Error with what its log says, if a component has ended */
export function requireRunning(component: Component["name"]): void {
    if (!runningComponent(component)) throw componentError(component, "ended unexpectedly");
}

/**
 * Calls `probe` every 50 ms until it returns true.
 *
 * @param component if it ends, the wait fails; the error contains what its log says.
 * @param wish completes the message "did not <wish> within 30 s".
 * @throws Error with what its log says
 */
export async function waitFor(
    component: Component["name"],
    wish: string,
    timeoutSeconds: number,
    probe: () => boolean | Promise<boolean>,
): Promise<void> {
    const deadline = Date.now() + timeoutSeconds * 1000;
    while (!(await probe())) {
        requireRunning(component);
        if (Date.now() > deadline) throw componentError(component, `did not ${wish} within ${timeoutSeconds} s`);
        await sleep(50);
    }
}

/** True once `probe` has been true for so many milliseconds without a gap. */
export function steadily(probe: () => Promise<boolean>, milliseconds: number): () => Promise<boolean> {
    let since: number | undefined;
    return async () => {
        since = (await probe()) ? (since ?? Date.now()) : undefined;
        return since !== undefined && Date.now() - since >= milliseconds;
    };
}
