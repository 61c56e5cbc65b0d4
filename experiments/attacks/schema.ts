import * as z from "zod";
import { allowedRadius, parseRadius } from "../../shared/radius";
import type { SavedAttack } from "../saved";
import { expression } from "../targets/schema";
import type { Attack } from "./attack";

const port = z.int().min(1).max(65_535);
const blackhole = z.strictObject({
    kind: z.literal("blackhole"),
    direction: z.enum(["both", "ingress", "egress"]).optional(),
    ports: z.array(port).nonempty().optional(),
    peers: expression.optional(),
});
const dns = z.strictObject({ kind: z.literal("dns") });
const kill = z.strictObject({ kind: z.literal("kill"), intervalMs: z.int().min(1_000).optional() });

/** What an attack may say, by its kind; whatever else it says is a mistake. */
export const attackSchema = z.discriminatedUnion("kind", [blackhole, dns, kill]) satisfies z.ZodType<Attack>;

const aim = {
    target: expression,
    radius: z
        .custom<NonNullable<SavedAttack["radius"]>>((value) => parseRadius(String(value)) !== undefined, {
            error: ({ input }) => `no radius: ${String(input)}; allowed: ${allowedRadius}`,
        })
        .optional(),
};

/** The same with whom it is for, as a saved experiment says it. */
export const savedAttackSchema = z.discriminatedUnion("kind", [
    blackhole.extend(aim),
    dns.extend(aim),
    kill.extend(aim),
]) satisfies z.ZodType<SavedAttack>;
