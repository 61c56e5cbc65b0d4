/** How many of the matching containers an attack may affect. A share is above 0 and up to 1. */
export type Radius = { kind: "count"; containers: number } | { kind: "share"; share: number } | { kind: "all" };

/** What a radius is written as, to complete the sentence "allowed: …". */
export const allowedRadius = "a whole number of containers from 1, a percentage above 0% and up to 100%, or all";

/** A radius as people write it: `2`, `50%`, `all`; undefined where it is none. */
export function parseRadius(text: string): Radius | undefined {
    if (text === "all") return { kind: "all" };
    const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
    if (percent !== undefined)
        return Number(percent) > 0 && Number(percent) <= 100
            ? { kind: "share", share: Number(percent) / 100 }
            : undefined;
    return /^\d{1,6}$/.test(text) && Number(text) > 0 ? { kind: "count", containers: Number(text) } : undefined;
}

/** How many containers a radius allows of `matching` ones; a share is rounded down, since it is a limit: perhaps to none. */
export function containersWithin(radius: Radius, matching: number): number {
    switch (radius.kind) {
        case "count":
            return Math.min(radius.containers, matching);
        case "share":
            return Math.floor(radius.share * matching);
        case "all":
            return matching;
    }
}

/** As a person says it: `1 container`, `50%`, `all`. */
export function describeRadius(radius: Radius): string {
    switch (radius.kind) {
        case "count":
            return `${radius.containers} container${radius.containers === 1 ? "" : "s"}`;
        case "share":
            return `${Number((radius.share * 100).toFixed(2))}%`;
        case "all":
            return "all";
    }
}
