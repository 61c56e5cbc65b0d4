import { pause } from "./command";
import type { NodeLayout } from "./layout";
import { type Component, logPath, logTail, runningComponent } from "./processes";

/** A component that ended, or did not become what it should; its message carries its last words. */
export class ComponentError extends Error {
    constructor(layout: NodeLayout, component: string, what: string) {
        const tail = logTail(layout, component)
            .map((line) => `\n    ${line.slice(0, 400)}`)
            .join("");
        super(`${component} ${what}; its log is ${logPath(layout, component)}${tail && `, which ends with:${tail}`}`);
        this.name = "ComponentError";
    }
}

/**
 * Waits until `probe` says true, asking every 50 ms.
 *
 * @param component who is waited for: its end ends the wait, and its log explains a time-out.
 * @param wish what it is to become, for the message: "did not <wish> within 30 s".
 * @throws {ComponentError}
 */
export async function waitFor(
    layout: NodeLayout,
    component: Component["name"],
    wish: string,
    timeoutSeconds: number,
    probe: () => boolean | Promise<boolean>,
): Promise<void> {
    const deadline = Date.now() + timeoutSeconds * 1000;
    while (!(await probe())) {
        if (!runningComponent(layout, component)) throw new ComponentError(layout, component, "ended unexpectedly");
        if (Date.now() > deadline) {
            throw new ComponentError(layout, component, `did not ${wish} within ${timeoutSeconds} s`);
        }
        await pause(50);
    }
}

/** A probe that says true once another one has for so many milliseconds without a gap. */
export function steadily(probe: () => Promise<boolean>, milliseconds: number): () => Promise<boolean> {
    let since: number | undefined;
    return async () => {
        since = (await probe()) ? (since ?? Date.now()) : undefined;
        return since !== undefined && Date.now() - since >= milliseconds;
    };
}
