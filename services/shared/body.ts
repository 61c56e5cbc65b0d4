import type { Context } from "hono";
import * as z from "zod/mini";
import { en } from "zod/locales";
import { plainProblem, ProblemError, problemType } from "./problem";

// zod's smaller build has no sentences of its own.
z.config(en());

/**
 * Reads a request's JSON body against a schema.
 *
 * @returns the value as the schema makes it
 * @throws ProblemError 415 for what does not claim to be JSON, 400 for what is none, and 422 for what is none that is
 *     wanted; the last names every wrong field, in `detail` and, as JSON Pointers (RFC 6901), in `errors`
 */
export async function readJsonBody<Schema extends z.ZodMiniType>(
    context: Context,
    schema: Schema,
): Promise<z.infer<Schema>> {
    const type = context.req.header("content-type") ?? "";
    if (!/^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i.test(type)) {
        throw new ProblemError(
            plainProblem(415, "Unsupported Media Type", "The body must be JSON, with Content-Type: application/json."),
            { Accept: "application/json" },
        );
    }
    let document: unknown;
    try {
        document = JSON.parse(await context.req.text());
    } catch {
        throw new ProblemError(plainProblem(400, "Bad Request", "The body is not JSON."));
    }
    const outcome = schema.safeParse(document);
    if (outcome.success) {
        return outcome.data;
    }
    const errors = outcome.error.issues.map(({ path, message }) => ({ pointer: pointerTo(path), detail: message }));
    throw new ProblemError({
        type: problemType("invalid-body"),
        title: "The body is not what is wanted here",
        status: 422,
        detail: errors.map(({ pointer, detail }) => `${pointer || "the body"}: ${detail}`).join("; "),
        errors,
    });
}

/** For a client that is gone before its body is whole. Nobody reads the answer; it keeps the log from calling it our mistake. */
export function bodyCutShort(): never {
    throw new ProblemError(plainProblem(400, "Bad Request", "The body ended before it was whole."));
}

function pointerTo(path: PropertyKey[]): string {
    return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
