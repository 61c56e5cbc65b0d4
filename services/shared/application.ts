import { Hono, type Handler } from "hono";
import type { Log } from "./log";
import { problemResponse } from "./problem";

/**
 * A Hono application with what each program of the shop has in common: unknown paths and unforeseen errors are
 * answered with problem documents, and the latter are logged whole, since the client learns nothing of them.
 */
export function createApplication(log: Log): Hono {
    const application = new Hono();
    application.notFound((context) =>
        problemResponse({
            type: "about:blank",
            title: "Not Found",
            status: 404,
            detail: `There is nothing at ${context.req.path}.`,
        }),
    );
    application.onError((error, context) => {
        log.error({ err: error, method: context.req.method, path: context.req.path }, "a request failed unforeseen");
        return problemResponse({
            type: "about:blank",
            title: "Internal Server Error",
            status: 500,
            detail: "The request failed for a reason that is in the log.",
        });
    });
    return application;
}

/**
 * Serves GET (and with it HEAD) at a path; any other method there is answered with 405 and the methods allowed,
 * where Hono by itself would say 404.
 */
export function serveGet(application: Hono, path: string, handler: Handler): void {
    application.get(path, handler);
    application.all(path, (context) =>
        problemResponse(
            {
                type: "about:blank",
                title: "Method Not Allowed",
                status: 405,
                detail: `${context.req.path} can be read with GET, not ${context.req.method}.`,
            },
            { Allow: "GET, HEAD" },
        ),
    );
}
