import * as z from "zod";
import { parseAttributes } from "../shared/attributes";
import { attackSchema } from "./attacks/schema";
import type { SavedExperiment } from "./saved";

const expression = z.string().check((context) => {
    try {
        parseAttributes(context.value);
    } catch (error) {
        context.issues.push({ code: "custom", input: context.value, message: (error as Error).message });
    }
});

const savedSchema = z.strictObject({
    hypothesis: z.string().trim().min(1),
    target: expression,
    attack: attackSchema.optional(),
    variant: z.literal("seven").optional(),
}) satisfies z.ZodType<SavedExperiment>;

/** All that is wrong with a saved experiment, each with its place and what is allowed there; none where it is right. */
export function mistakesIn(saved: unknown): string[] {
    const { error } = savedSchema.safeParse(saved);
    return (error?.issues ?? []).map(({ path, message }) => `${path.join(".") || "the experiment"}: ${message}`);
}
