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

export function reaches(share: Share, some: number, all: number): boolean {
    return some * billion >= billionthsOf(share) * all;
}

export const shareOf = (share: Share, all: number): number => Math.floor((billionthsOf(share) * all) / billion);

/** Rounded down to a tenth of a percent, because 99.96% must not read as 100%. */
export function percentOf(some: number, all: number): string {
    return all === 0 ? "0%" : `${Math.floor((some * 1_000) / all) / 10}%`;
}
