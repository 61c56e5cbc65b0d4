import { randomInt } from "node:crypto";
import { describeShare, parsePercentage, type Share, shareOf } from "../values/share";

/** How many of the matching containers an attack may affect. */
export type Radius = { kind: "count"; containers: number } | { kind: "share"; share: Share } | { kind: "all" };

/** Completes the sentence "allowed: …". */
export const allowedRadius = "a whole number of containers from 1, a percentage above 0% and up to 100%, or all";

/** Parses a radius: `2`, `50%`, `all`. Undefined if the text is not a radius. */
export function parseRadius(text: string): Radius | undefined {
    if (text === "all") return { kind: "all" };
    const share = parsePercentage(text);
    if (share !== undefined) return { kind: "share", share };
    return /^\d{1,6}$/.test(text) && Number(text) > 0 ? { kind: "count", containers: Number(text) } : undefined;
}

/** How many of the matching containers a radius allows. A share is a limit: it is rounded down, perhaps to none. */
export function containersWithin(radius: Radius, matching: number): number {
    switch (radius.kind) {
        case "count":
            return Math.min(radius.containers, matching);
        case "share":
            return shareOf(radius.share, matching);
        case "all":
            return matching;
    }
}

/** For people: `1 container`, `50%`, `all`. */
export function describeRadius(radius: Radius): string {
    switch (radius.kind) {
        case "count":
            return `${radius.containers} container${radius.containers === 1 ? "" : "s"}`;
        case "share":
            return describeShare(radius.share);
        case "all":
            return "all";
    }
}

export const shuffled = <T>(items: readonly T[]): T[] =>
    items
        .map((item) => ({ item, key: randomInt(2 ** 47) }))
        .sort((a, b) => a.key - b.key)
        .map(({ item }) => item);
