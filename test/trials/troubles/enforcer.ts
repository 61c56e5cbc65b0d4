import { startEnforcer, stopEnforcer } from "../../../sandbox/test/support/enforcer";
import type { Trouble } from "../kind";

/** When the enforcer must have stopped before the end of the window, so that it is seen, in milliseconds. */
const toBeSeenMs = 1_500;

/** Stops the enforcer and removes its rules: before the attack, or during it. */
export const enforcerOff: Trouble = async ({ random, moment, leftMs, afterwards }) => {
    const before = random() < 0.5;
    if (!before) await moment({ leaveMs: 4_000 });
    afterwards(startEnforcer);
    await stopEnforcer();
    const inTime = before || leftMs() > toBeSeenMs;
    return {
        saw: before ? "stopped it before the attack" : `stopped it ${inTime ? "in" : "at the end of"} the window`,
        only: inTime ? ["INCONCLUSIVE"] : undefined,
    };
};
