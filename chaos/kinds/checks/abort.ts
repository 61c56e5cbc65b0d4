import * as z from "zod";
import { probesDue } from "../../values/due";
import { describeMilliseconds, type Duration, parseDuration } from "../../values/duration";
import { describeShare, parsePercentage, reaches, type Share } from "../../values/share";
import { durationBetween, instant, milliseconds, percentage, shareSchema } from "../../values/texts";
import type { Answer } from "./answer";

/** When a check ends the attacks early, as a definition says it. */
export interface AbortSettings {
    /**
     * A percentage, at most the required success rate. A lower success rate over `abortOver` ends the attacks, with the
     * verdict `FAILED`. @default the experiment's `abortBelow`
     */
    abortBelow?: string;
    /** How long the success rate is measured, 1 s to 1 h; longer than the interval between probes. @default "10s" */
    abortOver?: Duration;
}

const defaultAbortOver: Duration = "10s";

export const abortSettingsSchema = {
    abortBelow: percentage("50%").optional(),
    abortOver: durationBetween({ least: "1s", most: "1h" }, "10s").optional(),
};

export const abortRuleSchema = z.object({ below: shareSchema, overMs: milliseconds });
export type AbortRule = z.infer<typeof abortRuleSchema>;

/** @param defaultBelow for a check that sets none. @returns undefined if the check ends nothing early */
export function abortRuleOf({ abortBelow, abortOver }: AbortSettings, defaultBelow?: Share): AbortRule | undefined {
    const below = abortBelow === undefined ? defaultBelow : parsePercentage(abortBelow);
    const overMs = parseDuration(abortOver ?? defaultAbortOver);
    return below === undefined || overMs === undefined ? undefined : { below, overMs };
}

export function contradictionsIn(
    { below, overMs }: AbortRule,
    { successRate, intervalMs, durationMs }: { successRate: Share; intervalMs: number; durationMs: number },
) {
    const [limit, required] = [describeShare(below), describeShare(successRate)];
    const measures = `the abort rule measures ${describeMilliseconds(overMs)}`;
    const once = `${measures}, and would see one answer at an interval of ${describeMilliseconds(intervalMs)}`;
    const faults: [isWrong: boolean, against: "successRate" | "intervalMs" | "durationMs", reason: string][] = [
        [
            below > successRate,
            "successRate",
            `the attacks would end below ${limit}, in a run that passes with ${required}, the required success rate`,
        ],
        [overMs <= intervalMs, "intervalMs", once],
        [
            overMs > durationMs,
            "durationMs",
            `${measures}, but answers count for only ${describeMilliseconds(durationMs)}`,
        ],
    ];
    return faults.flatMap(([isWrong, against, reason]) => (isWrong ? { against, reason } : []));
}

/** How a moment of a run is described in schemas. `sinceAttack` of `values/since.ts` makes sentences about one. */
export const momentText = "Since the attack was proven, or since the checks began if there is none";

export const abortedSchema = z.object({
    check: z.string().describe("Name of the check whose success rate was too low"),
    afterMs: milliseconds.describe(momentText),
    rate: z.string().describe("Share of good answers in the last `overMs`, as a percentage"),
    answers: z.int().nonnegative().describe("Number of answers that the rate rests on"),
    below: z.string().describe("The limit, as a percentage"),
    overMs: milliseconds,
    endedAt: instant.optional().describe("When the attacks had ended; absent if they could not be ended"),
});
export type Aborted = z.infer<typeof abortedSchema>;

/**
 * Whether the last answers of a check fall below its rule beyond doubt: as many as are due in the rule's time, of which
 * at least half saw the application, and even if those that did not had been good.
 *
 * @param counted the answers after the grace period, in the order of asking, without gaps
 * @returns the good ones among those that saw the application; undefined if the run goes on
 */
export function fallsBelow(
    { below, overMs }: AbortRule,
    intervalMs: number,
    counted: readonly Answer[],
): { good: number; seen: number } | undefined {
    const due = probesDue(overMs, intervalMs);
    if (counted.length < due) return undefined;
    const last = counted.slice(-due);
    const good = last.filter((answer) => answer.good).length;
    const unseen = last.filter((answer) => answer.unseen).length;
    if (unseen * 2 > due || reaches(below, good + unseen, due)) return undefined;
    return { good, seen: due - unseen };
}
