import { createHash } from "node:crypto";

/** A number from 0, included, to 1, excluded. */
export type Random = () => number;

/** Random numbers that are the same again for the same seed. */
export function randomOf(seed: string): Random {
    let count = 0;
    return () => createHash("sha256").update(`${seed}/${count++}`).digest().readUInt32BE() / 2 ** 32;
}

export const between = (random: Random, least: number, most: number): number => least + random() * (most - least);
