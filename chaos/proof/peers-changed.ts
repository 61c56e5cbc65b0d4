import type { Cluster } from "../cluster/client";
import type { Plan, RunAttack } from "../definition/plan";
import { reason, type Reason } from "../values/reasons";
import { select } from "../targets/containers";
import { discover, peersOf } from "../targets/discover";
import { few } from "../values/quoted";

/**
 * Why an attack's peers are not those of before it: it denies traffic with these alone, or not on every network with
 * others. Undefined if none came, and one of them is left at least.
 */
export async function whyPeersChanged(
    cluster: Cluster,
    plan: Plan,
    { attack, target, chosen: { peers, targets } }: Pick<RunAttack, "attack" | "chosen"> & { target: string },
): Promise<Reason | undefined> {
    const expression = peersOf(attack);
    if (expression === undefined || peers === undefined) return undefined;
    const discovered = await discover(cluster, { ...plan, attacks: [{ attack, target }] });
    const uidsOf = (some: readonly { uid: string }[]) => new Set(some.map(({ uid }) => uid));
    const [earlier, attacked] = [uidsOf(peers), uidsOf(targets)];
    const there = select(discovered, expression).filter(({ uid }) => !attacked.has(uid));
    const came = [...new Set(there.filter(({ uid }) => !earlier.has(uid)).map(({ pod }) => pod))];
    if (came.length > 0) {
        const joined = `${few(came)} joined the peers ${expression} during the run`;
        return reason("peers-changed", `${joined}, and the attack was made for those before`);
    }
    if (there.length > 0) return undefined;
    return reason("peers-changed", `none of the peers ${expression} was left before the run had ended`);
}
