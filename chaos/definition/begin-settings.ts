import * as z from "zod";
import { type Check, checkSchema } from "../kinds/checks/registry";
import { durationBetween, notAnObject } from "../values/texts";
import { type Duration, times } from "../values/duration";

/** When a run begins, if not at once. */
export interface BeginSettings {
    /** A check: its first good answer begins the run. Fields about several answers are mistakes. */
    when: Check;
    /** How long the run waits for that, 1 s to 1 h. Then it is `ABORTED`, and nothing is attacked. @default "5m" */
    within?: Duration;
}

/** What is said of several answers. */
const ofMany = ["successRate", "confidence", "abortBelow", "abortOver", "latency"] as const;

const noMany = "one good answer begins the run, so it has no rate and no comparison";

export const beginSchema = z.strictObject(
    {
        when: checkSchema.superRefine((check, context) => {
            for (const field of ofMany.filter((one) => check[one] !== undefined)) {
                const message = `${noMany}; allowed: leave it out`;
                context.addIssue({ code: "custom", path: [field], message });
            }
        }),
        within: durationBetween(times.begin).optional(),
    },
    { error: notAnObject("{ when: CHECK }") },
) satisfies z.ZodType<BeginSettings>;
