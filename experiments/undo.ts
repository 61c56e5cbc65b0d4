import type { Cluster } from "../shared/kubernetes";
import { claimedByOthers, release } from "./claim";
import type { Plan } from "./plan";
import { recover } from "./recover";
import { sweep } from "./sweep";

/** How an experiment was undone. */
export interface Undone {
    /** When all was undone, in milliseconds since the epoch. */
    at: number;
    /** How long it took until every check was content; null where there is no shop that could be. */
    recoveredAfterMs: number | null;
}

/**
 * Sweeps away what is left of an experiment, gives the namespace free, and waits until every check is content. Where the
 * attack had ended before, by its deadline or otherwise, another stack may have begun one since: that is left alone.
 *
 * @throws Error where a check is not content in time
 */
export async function undo(cluster: Cluster, plan: Plan, say: (line: string) => void): Promise<Undone> {
    const others = await claimedByOthers(cluster, plan);
    if (others) say(others);
    const swept = others ? 0 : await sweep(cluster, plan.namespace, plan.experiment);
    if (swept > 0) say(`Removed what was left of the attack: ${swept} ${swept === 1 ? "object" : "objects"}`);
    const at = Date.now();
    await release(cluster, plan);
    return { at, recoveredAfterMs: await recover(cluster, plan) };
}
