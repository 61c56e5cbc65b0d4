import type { DeniedTraffic } from "../../sandbox/node/choices";
import type { Kind } from "./kind";
import type { Place } from "./place";
import { keyOf } from "./results";
import type { Shape } from "./shop";

export interface Planned {
    kind: Kind;
    denied: DeniedTraffic;
    round: number;
}

const describeShape = ({ hotDeals, gateway, networkPolicies = true, zone }: Shape) =>
    `${hotDeals} ${gateway} ${networkPolicies} ${zone}`;

/**
 * The trials to do, with few changes of denied traffic and of the shop's shape. Within these, each kind has its first
 * round before any has its second: an interrupted program has tried each.
 *
 * @param done keys of the trials to skip
 */
export function schedule(
    kinds: readonly Kind[],
    place: Place,
    denied: readonly DeniedTraffic[],
    rounds: number,
    done: ReadonlySet<string>,
): Planned[] {
    const groups = new Map<string, Kind[]>();
    const order = [...kinds].sort((a, b) => Number(a.alone ?? false) - Number(b.alone ?? false));
    for (const kind of order) {
        const group = `${kind.alone ?? false} ${describeShape(kind.shape)}`;
        groups.set(group, [...(groups.get(group) ?? []), kind]);
    }
    const all = denied.flatMap((one) =>
        [...groups.values()].flatMap((group) =>
            Array.from({ length: rounds }, (_, index) => index + 1).flatMap((round) =>
                group.map((kind) => ({ kind, denied: one, round })),
            ),
        ),
    );
    return all.filter(({ kind, ...trial }) => !done.has(keyOf({ kind: kind.name, ...place, ...trial })));
}
