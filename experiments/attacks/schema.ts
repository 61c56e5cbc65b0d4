import * as z from "zod";
import type { Attack } from "./attack";

const port = z.int().min(1).max(65_535);

/** What an attack may say, by its kind; whatever else it says is a mistake. */
export const attackSchema = z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("blackhole"), direction: z.enum(["both", "ingress", "egress"]).optional(), ports: z.array(port).nonempty().optional() }),
    z.strictObject({ kind: z.literal("dns") }),
    z.strictObject({ kind: z.literal("kill"), intervalMs: z.int().min(1_000).optional() }),
]) satisfies z.ZodType<Attack>;
