import * as z from "zod";
import { allowedName, isName } from "../../shared/name";
import type { Action } from "./action";

const deployment = z.string().refine(isName, { error: `no name of a Deployment; allowed: ${allowedName}` });

/** What an action may say, by its kind; whatever else it says is a mistake. */
export const actionSchema = z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("wait"), durationMs: z.int().positive().max(3_600_000) }),
    z.strictObject({ kind: z.literal("scale"), deployment, replicas: z.int().min(0).max(100) }),
]) satisfies z.ZodType<Action>;
