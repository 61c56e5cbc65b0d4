import * as z from "zod";
import { actionSchema } from "./actions/schema";
import { savedAttackSchema } from "./attacks/schema";
import { checkName } from "./checks/check";
import { checkSchema } from "./checks/schema";
import type { SavedExperiment } from "./saved";

const checks = z
    .array(checkSchema)
    .nonempty({ error: "an experiment without a check has no verdict; leave `checks` out for /products" })
    .superRefine((all, { addIssue }) => {
        all.forEach((check, index) => {
            const name = checkName(check);
            if (all.findIndex((other) => checkName(other) === name) < index)
                addIssue({
                    code: "custom",
                    path: [index, "name"],
                    message: `another check is called "${name}", too; give one of them another name`,
                });
        });
    });

const savedSchema = z.strictObject({
    hypothesis: z.string().trim().min(1),
    attacks: z.array(savedAttackSchema).nonempty({ error: "an experiment attacks somebody: at least one attack" }),
    checks: checks.optional(),
    actions: z.array(actionSchema).optional(),
    variant: z.literal("seven").optional(),
}) satisfies z.ZodType<SavedExperiment>;

/** Its objects are called by it, with up to 18 characters more; the name of a Job may have 63. */
const longestName = 45;

/** All that is wrong with a saved experiment, each with its place and what is allowed there; none where it is right. @param name its file's */
export function mistakesIn(saved: unknown, name = ""): string[] {
    const { error } = savedSchema.safeParse(saved);
    const mistakes = (error?.issues ?? []).map(
        ({ path, message }) => `${path.join(".") || "the experiment"}: ${message}`,
    );
    return name.length <= longestName
        ? mistakes
        : [`its name: has ${name.length} characters; allowed: at most ${longestName}`, ...mistakes];
}
