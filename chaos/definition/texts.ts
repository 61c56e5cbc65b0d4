import * as z from "zod";
import { type Duration, parseDuration } from "../duration";
import { parsePercentage } from "../share";

/** A duration as a person writes it. */
export const durationBetween = (least: Duration, most: Duration) =>
    z.string().refine(
        (text) => {
            const milliseconds = parseDuration(text);
            return (
                milliseconds !== undefined &&
                milliseconds >= parseDuration(least)! &&
                milliseconds <= parseDuration(most)!
            );
        },
        {
            error: ({ input }) =>
                `"${String(input)}" is not allowed; allowed: a duration from ${least} to ${most}, such as 500ms, 30s ` +
                "or 5m0s",
        },
    );

/** A percentage as a person writes it. */
export const percentage = z.string().refine((text) => parsePercentage(text) !== undefined, {
    error: ({ input }) =>
        `"${String(input)}" is not a percentage; allowed: a percentage above 0% and up to 100%, such as 99.5%`,
});
