/**
 * A part of a whole, above 0 and up to 1. Floating-point numbers only come close to most percentages, so shares are
 * compared and multiplied as whole billionths.
 */
export type Share = number;

const billion = 1_000_000_000;
const billionthsOf = (share: Share) => Math.max(1, Math.round(share * billion));

/** @param example completes "such as …" */
export const allowedPercentage = (example = "99.5%") => `a percentage above 0% and up to 100%, such as ${example}`;

/** As written in configuration: `99.5%`. Undefined if the text is not a percentage above 0% and up to 100%. */
export function parsePercentage(text: string): Share | undefined {
    const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
    const share = Number(`${percent}e-2`);
    return share > 0 && share <= 1 ? share : undefined;
}

export const describeShare = (share: Share): string => `${Number((share * 100).toFixed(7))}%`;

/** As reports write it: 99.99999999% reads as 100%. */
export const readsAsAllOrNone = (share: Share): boolean => ["0%", "100%"].includes(describeShare(share));

export function reaches(share: Share, some: number, all: number): boolean {
    return some * billion >= billionthsOf(share) * all;
}

export const shareOf = (share: Share, all: number): number => Math.floor((billionthsOf(share) * all) / billion);

/**
 * Rounded down, because 99.96% must not read as 100%: to a tenth of a percent, or further if the share would read as
 * 10% less than it is, or the rest as twice as much. So 9,999 of 10,000 do not read as less than the bound that they
 * show.
 */
export function percentOf(some: number, all: number): string {
    if (all === 0) return "0%";
    for (let scale = 1_000; ; scale *= 10) {
        const [exact, shown] = [(some * scale) / all, Math.floor((some * scale) / all)];
        const isClose = shown >= 0.9 * exact && (some === all || scale - shown < 2 * (scale - exact));
        if (isClose) return `${shown / (scale / 100)}%`;
    }
}
