import { type Cluster, reasonOf } from "../cluster/client";
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
 * Performs actions one after the other, until one fails.
 *
 * @param attacksLast asked before each action: after the deadline nothing would undo it
 */
export async function performAll(
    actions: readonly Action[],
    cluster: Cluster,
    namespace: string,
    attacksLast: () => Promise<boolean>,
    say: (message: string) => void,
): Promise<Performed[]> {
    const performed: Performed[] = [];
    for (const action of actions) {
        const kind = actionKindOf(action);
        const description = kind.describe(action);
        const begunAt = Date.now();
        const perform = async () => {
            if (!(await attacksLast())) throw new Error("the attacks are over");
            await kind.perform(action, cluster, namespace);
        };
        const problem = await perform().then(() => undefined, reasonOf);
        performed.push({ action: description, begunAt, endedAt: Date.now(), problem });
        say(problem === undefined ? `Done: ${description}` : `Could not ${description}: ${problem}`);
        if (problem !== undefined) break;
    }
    return performed;
}
