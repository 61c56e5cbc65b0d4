import { problemOf } from "../cluster/problem";
import type { ActionContext } from "./kind";
import { type Action, actionKindOf } from "./registry";

/** What became of an action. Times are milliseconds since the epoch. */
export interface Performed {
    /** In words, as in "scale hot-deals to 3". */
    action: string;
    begunAt: number;
    endedAt: number;
    /** Why it failed; later actions were not started. */
    problem?: string;
}

/**
 * Performs actions one after the other, until one fails or the run is aborted.
 *
 * @param attacksLast asked before each action, also of a run without attacks: after the deadline nothing would undo it
 * @param context once its `signal` is set, no further action starts, and a wait ends
 * @returns what was done, and what failed. A wait that the abort has cut short is neither
 */
export async function performAll(
    actions: readonly Action[],
    context: ActionContext,
    attacksLast: () => Promise<boolean>,
    say: (message: string) => void,
): Promise<Performed[]> {
    const { signal } = context;
    const performed: Performed[] = [];
    for (const action of actions) {
        if (signal?.aborted) break;
        const kind = actionKindOf(action);
        const description = kind.describe(action);
        const begunAt = Date.now();
        const perform = async () => {
            if (!(await attacksLast())) throw new Error("the run is over");
            await kind.perform(action, context);
        };
        const problem = await perform().then(() => undefined, problemOf);
        if (problem !== undefined && signal?.aborted) break;
        performed.push({ action: description, begunAt, endedAt: Date.now(), problem });
        say(problem === undefined ? `Done: ${description}` : `Could not ${description}: ${problem}`);
        if (problem !== undefined) break;
    }
    return performed;
}
