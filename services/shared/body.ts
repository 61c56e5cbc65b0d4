import type { Context } from "hono";
import * as z from "zod/mini";
import { en } from "zod/locales";
import { plainProblem, ProblemError, problemType } from "./problem";

// zod's smaller build comes without messages.
z.config(en());

/**
 * Parses a request's JSON body with a schema.
 *
 * @throws ProblemError 415 if the content type is not JSON, 400 if the body is not JSON, 422 if it does not match the
 *     schema; see `wrongFields`
 */
export async function readJsonBody<Body>(context: Context, schema: z.ZodMiniType<Body>): Promise<Body> {
    const type = context.req.header("content-type") ?? "";
    if (!/^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i.test(type))
        throw new ProblemError(plainProblem(415, "The body must be JSON, with Content-Type: application/json."), {
            Accept: "application/json",
        });
    let document: unknown;
    try {
        document = JSON.parse(await context.req.text());
    } catch {
        throw new ProblemError(plainProblem(400, "The body is not JSON."));
    }
    const outcome = schema.safeParse(document);
    if (outcome.success) return outcome.data;
    const errors = outcome.error.issues.map(({ path, message }) => ({ pointer: pointerTo(path), detail: message }));
    throw wrongFields("invalid-body", "Invalid body", errors);
}

/** Names each wrong field of a body: in `detail` and, as JSON Pointers (RFC 6901), in `errors`. */
export function wrongFields(kind: string, title: string, errors: { pointer: string; detail: string }[]): ProblemError {
    const detail = errors.map(({ pointer, detail }) => `${pointer || "the body"}: ${detail}`).join("; ");
    return new ProblemError({ type: problemType(kind), title, status: 422, detail, errors });
}

/** For a client that leaves before its body is complete: keeps an unexpected error out of the log. */
export function bodyCutShort(): never {
    throw new ProblemError(plainProblem(400, "The body ended early."));
}

function pointerTo(path: PropertyKey[]): string {
    return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
