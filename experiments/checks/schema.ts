import * as z from "zod";
import { expression } from "../targets/schema";
import type { Check } from "./check";

const settings = {
    name: z.string().trim().min(1).max(60).optional(),
    perSecond: z.number().min(1).max(50).optional(),
    timeoutMs: z.int().min(100).max(60_000).optional(),
    successRate: z.number().positive().max(1).optional(),
};
const status = z.int().min(100).max(599);
const method = z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);
/** A saved experiment is in the project's history, its plan in the state and in journals. */
const headers = z.record(z.string(), z.string()).superRefine((all, { addIssue }) => {
    for (const name of Object.keys(all)) {
        if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
            addIssue({ code: "custom", path: [name], message: "this is no name of a header" });
        if (/authorization|cookie|token|secret|password|api-?key/i.test(name))
            addIssue({
                code: "custom",
                path: [name],
                message: "a secret has no place in a saved experiment, which the state and journals show",
            });
    }
});
const expectation = z.strictObject({
    path: z.string().min(1),
    equals: z.union([z.string(), z.number(), z.boolean(), z.null()]).optional(),
    atLeast: z.int().nonnegative().optional(),
});

/** What a check may say, by its kind; whatever else it says is a mistake. */
export const checkSchema = z.discriminatedUnion("kind", [
    z.strictObject({
        kind: z.literal("http"),
        path: z.string().regex(/^\/(?!\/)\S*$/, { error: "no path; allowed: one such as /products" }),
        method: method.optional(),
        headers: headers.optional(),
        body: z.looseObject({}).optional(),
        status: z.union([status, z.tuple([status, status])]).optional(),
        json: z.array(expectation).nonempty().optional(),
        maxLatencyMs: z.int().positive().optional(),
        ...settings,
    }),
    z.strictObject({
        kind: z.literal("podsReady"),
        of: expression,
        atLeast: z.int().min(1).max(1_000).optional(),
        ...settings,
    }),
]) satisfies z.ZodType<Check>;
