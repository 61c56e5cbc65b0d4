import { leaseFor } from "../lifecycle/lease";
import { NotRecoveredError } from "../lifecycle/recover";
import { undo } from "../lifecycle/undo";
import type { Step } from "./contract";
import { reportRecovery } from "./report-recovery";

/**
 * The last step of undoing an experiment: removes what a killed update may have left, then waits until every check is
 * steady again.
 *
 * @throws Error if a check is not steady within a minute, at the first try, and sees the application
 */
export const recovery: Step<"recovery"> = async (context) => {
    const { cluster, stack, plan, say } = context;
    const { own } = await leaseFor(cluster, context);
    const undone = await undo(cluster, stack, plan, say).catch((error: unknown) => {
        // An earlier try has told that, and left nothing. The application may be gone for good.
        const isTold = own === undefined;
        // A program that a check starts is not there if the stack is destroyed from elsewhere.
        if (!(error instanceof NotRecoveredError) || !(isTold || error.unseen)) throw error;
        say(error.message);
        return undefined;
    });
    if (undone === undefined) return { recoveredAfterMs: null };
    const { at: undoneAt, recoveredAfterMs } = undone;
    if (recoveredAfterMs === null) say("The application is gone, so nothing can recover");
    else reportRecovery(context, { undoneAt, recoveredAfterMs });
    return { recoveredAfterMs };
};
