/** Durations and percentages as a person writes them in a definition. */
import * as z from "zod";
import { parseDuration } from "./duration";
import { parsePercentage } from "./share";
import type { Range } from "./times";

/** @param examples completes "such as …", in the error */
export function durationBetween({ least, most }: Range, examples = "500ms, 30s or 5m0s") {
    const error = ({ input }: { input?: unknown }) =>
        `${JSON.stringify(input)} is not allowed; allowed: a duration from ${least} to ${most}, such as ${examples}`;
    return z.string({ error }).refine(
        (text) => {
            const milliseconds = parseDuration(text) ?? -1;
            return milliseconds >= parseDuration(least)! && milliseconds <= parseDuration(most)!;
        },
        { error },
    );
}

/** A percentage above 0% and up to 100%. @param example completes "such as …", in the error */
export function percentage(example = "99.5%") {
    const error = ({ input }: { input?: unknown }) =>
        `${JSON.stringify(input)} is not a percentage; allowed: a percentage above 0% and up to 100%, such as ` +
        example;
    return z.string({ error }).refine((text) => parsePercentage(text) !== undefined, { error });
}
