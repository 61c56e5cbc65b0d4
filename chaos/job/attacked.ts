import { referenceAt } from "../cluster/resources";
import { objectApi } from "./api";
import type { JobAttack } from "./protocol";

/** When each attack's object was first seen, by this node's clock. */
const firstSeen = new Map<string, number>();

/** Whether an attack has begun and its deadline has not passed. */
export async function lasts(path: string, deadlineMs: number): Promise<boolean> {
    const created = await creationOf(path);
    return created !== undefined && Date.now() < created + deadlineMs;
}

/** When the first of the attacks' objects was created. Undefined while there is none. */
export async function attackedSince(attacks: readonly JobAttack[]): Promise<number | undefined> {
    const created = await Promise.all(attacks.map(({ path }) => creationOf(path)));
    const known = created.filter((at) => at !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
}

/**
 * When an object was created, in milliseconds since the epoch. Undefined while it does not exist. Not later than it was
 * first seen: if this node's clock is behind the API server's, the difference would prolong the attack.
 */
async function creationOf(path: string): Promise<number | undefined> {
    const found = await objectApi.get(referenceAt(path));
    if (found === undefined) return undefined;
    const seen = firstSeen.get(path) ?? Date.now();
    firstSeen.set(path, seen);
    return Math.min(Date.parse(String(found.metadata!.creationTimestamp)), seen);
}
