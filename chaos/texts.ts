/** Values as a person writes them in a definition, and what is told of wrong ones. */
import * as z from "zod";
import { parseDuration } from "./duration";
import { parsePercentage } from "./share";
import type { Range } from "./times";

/** Whether a value is only known later. */
export const isOutput = (value: unknown): boolean =>
    value instanceof Promise || (typeof value === "object" && value !== null && "__pulumiOutput" in value);

/** A value for people. An Output has no text: definitions are plain values. */
export function describeValue(value: unknown): string {
    if (Array.isArray(value)) return "a list";
    if (isOutput(value)) return "an Output";
    return typeof value === "number" ? String(value) : JSON.stringify(value);
}

/** @param examples completes "such as …", in the error */
export function durationBetween({ least, most }: Range, examples = "500ms, 30s or 5m0s") {
    const error = ({ input }: { input?: unknown }) =>
        `${describeValue(input)} is not allowed; allowed: a duration from ${least} to ${most}, such as ${examples}`;
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
        `${describeValue(input)} is not a percentage; allowed: a percentage above 0% and up to 100%, such as ` +
        example;
    return z.string({ error }).refine((text) => parsePercentage(text) !== undefined, { error });
}
