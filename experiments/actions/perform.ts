import { type Cluster, reasonOf } from "../../shared/kubernetes";
import { type Action, kindOfAction } from "./action";

/** What became of an action. Times are milliseconds since the epoch. */
export interface Performed {
    /** In words, as in "scale hot-deals to 3". */
    action: string;
    begunAt: number;
    endedAt: number;
    /** Why it could not be done; those after it were not begun. */
    problem?: string;
}

/**
 * Does actions one after the other, until one cannot be done.
 *
 * @param mayAct whether the attacks last still, asked before each: what is done after the deadline nobody would undo
 * @param say is told of each, once it is done or has failed
 */
export async function perform(
    actions: readonly Action[],
    cluster: Cluster,
    namespace: string,
    mayAct: () => Promise<boolean>,
    say: (message: string) => void,
): Promise<Performed[]> {
    const performed: Performed[] = [];
    for (const planned of actions) {
        const action = kindOfAction(planned).describe(planned);
        const begunAt = Date.now();
        const act = async () => {
            if (!(await mayAct())) throw new Error("the attacks are over");
            await kindOfAction(planned).act(planned, cluster, namespace);
        };
        const problem = await act().then(() => undefined, reasonOf);
        performed.push({ action, begunAt, endedAt: Date.now(), problem });
        say(problem === undefined ? `Done: ${action}` : `Could not ${action}: ${problem}`);
        if (problem !== undefined) break;
    }
    return performed;
}
