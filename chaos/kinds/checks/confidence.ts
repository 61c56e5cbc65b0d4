import * as z from "zod";
import { type Confidence, describeBound, lowerBound, upperBound, usualLevel } from "../../values/bound";
import { describeShare, parsePercentage, readsAsAllOrNone, type Share } from "../../values/share";
import { notAllowed, notAnObject, shareSchema } from "../../values/texts";

/** What the answers of a check must show, as a definition says it. */
export interface ConfidenceSettings {
    /** Success rate that they must show, above 0% and below 100%; at most the required success rate. */
    atLeast: string;
    /** With which confidence, at least 50% and below 100%. @default "95%" */
    level?: string;
}

function percentageBelow100(allowed: string, least: Share) {
    const error = notAllowed(allowed);
    const isAllowed = (share: Share = 0) => share >= least && !readsAsAllOrNone(share);
    return z.string({ error }).refine((text) => isAllowed(parsePercentage(text)), { error });
}

export const allowedAtLeast = "a percentage above 0% and below 100%, such as 99%";

export const confidenceSettingsSchema = z.strictObject(
    {
        atLeast: percentageBelow100(allowedAtLeast, Number.MIN_VALUE),
        level: percentageBelow100("a percentage of at least 50% and below 100%, such as 95%", 0.5).optional(),
    },
    { error: notAnObject('{ atLeast: "99%" }') },
);

export const confidenceSchema = z.object({ atLeast: shareSchema, level: shareSchema });

/** @param settings valid ones */
export const confidenceOf = ({ atLeast, level }: ConfidenceSettings): Confidence => ({
    atLeast: parsePercentage(atLeast)!,
    level: level === undefined ? usualLevel : parsePercentage(level)!,
});

export const writtenConfidence = ({ atLeast, level }: Confidence): Required<ConfidenceSettings> => ({
    atLeast: describeShare(atLeast),
    level: describeShare(level),
});

/** What the answers of a check show, as reports have it. */
export const boundSchema = z.object({
    level: z.string().describe("Of the exact one-sided bound (Clopper-Pearson), as a percentage"),
    atLeast: z.string().optional().describe("The least success rate that the answers show; only if that was reached"),
    atMost: z.string().optional().describe("The greatest that they show; only if it was not"),
    answers: z.int().positive().describe("Number of answers that the bound rests on"),
});
export type Bound = z.infer<typeof boundSchema>;

/**
 * @param unseen answers among the others that say nothing about the application: a bound must hold whatever they would
 *   have been
 */
export function boundOf(
    { good, unseen, counted }: { good: number; unseen: number; counted: number },
    holds: boolean,
    { level, atLeast }: { level: Share; atLeast?: Share } = { level: usualLevel },
): Bound {
    const bound = holds
        ? { atLeast: describeLeast(lowerBound(good, counted, level), atLeast) }
        : { atMost: describeBound(upperBound(good + unseen, counted, level), "up") };
    return { level: describeShare(level), ...bound, answers: counted };
}

/** It reads as less than what is required only if it is. */
const describeLeast = (bound: Share, required: Share = 0) =>
    describeBound(bound, "down", (shown) => shown < required === bound < required);

/** Such as `95% confidence: at least 81.8%`. */
export const describeShown = ({ level, atLeast, atMost }: Bound): string =>
    `${level} confidence: ${atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`}`;
