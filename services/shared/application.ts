import { Hono, type MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { methodNotAllowed } from "hono/method-not-allowed";
import { secureHeaders } from "hono/secure-headers";
import { bodyCutShort } from "./body";
import type { Log } from "./log";
import { createMetrics, measureRequests, type Metrics } from "./metrics";
import { plainProblem, ProblemError, problemResponse } from "./problem";
import { openScope } from "./scope";

/** Many times the largest order; what is longer must not fill the memory. */
const LONGEST_BODY_BYTES = 64 * 1024;

/** What asks again and again, and would hide everything else in the log. */
const ROUTINE = /^\/(?:health\/|metrics$)/;

/**
 * A Hono application with what all programs of the shop have in common:
 *
 * - each request has a scope (`context.get("scope")`): its id, which is answered back, its log, its trace context
 * - each is logged once, when it was answered, and measured; `/metrics` shows the program's metrics to Prometheus
 * - unknown paths, methods that a path does not have, bodies over 64 KiB and unforeseen errors are answered with problem
 *   documents. An unforeseen error is logged whole, since the client learns nothing of it
 * - security headers, of which the Content-Security-Policy lets a page use nothing but its own origin's files
 *
 * @param metrics the program's @default new ones
 */
export function createApplication(log: Log, metrics: Metrics = createMetrics()): Hono {
    const application = new Hono();
    application.use(measureRequests(metrics), giveScope(log), security, limitBodies);
    application.use(
        methodNotAllowed({
            app: application,
            onMethodNotAllowed: ({ req }, methods) => {
                const allowed = methods.join(", ");
                const detail = `${req.path} can be asked with ${allowed}, not with ${req.method}.`;
                return problemResponse(plainProblem(405, "Method Not Allowed", detail), { Allow: allowed });
            },
        }),
    );
    application.get("/metrics", async (context) =>
        context.body(await metrics.metrics(), 200, { "Content-Type": metrics.contentType }),
    );
    application.notFound(({ req }) =>
        problemResponse(plainProblem(404, "Not Found", `There is nothing at ${req.path}.`)),
    );
    application.onError((error, context) => {
        if (error instanceof ProblemError) {
            return problemResponse(error.problem, error.headers);
        }
        const { method, path } = context.req;
        context.get("scope").log.error({ err: error, method, path }, "a request failed unforeseen");
        return problemResponse(
            plainProblem(500, "Internal Server Error", "The request failed for a reason that is in the log."),
        );
    });
    return application;
}

function giveScope(log: Log): MiddlewareHandler {
    return async (context, next) => {
        const begun = performance.now();
        const scope = openScope((name) => context.req.header(name), log);
        context.set("scope", scope);
        await next();
        context.res.headers.set("X-Request-Id", scope.requestId);
        const { method, path } = context.req;
        const durationMs = Math.round(performance.now() - begun);
        // Never the query or the headers: a secret may be in them.
        scope.log[ROUTINE.test(path) ? "debug" : "info"](
            { method, path, status: context.res.status, durationMs },
            "answered",
        );
    };
}

const security = secureHeaders({
    contentSecurityPolicy: {
        defaultSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        objectSrc: ["'none'"],
    },
    xFrameOptions: "DENY",
    // TLS ends before the gateway, if there is any: whether a host is to be asked by TLS alone is for its Ingress to say.
    strictTransportSecurity: false,
    // Over plain HTTP browsers ignore these two, with a warning on their console.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
});

const limitBody = bodyLimit({
    maxSize: LONGEST_BODY_BYTES,
    onError: () =>
        problemResponse(
            plainProblem(413, "Content Too Large", `A body may have ${LONGEST_BODY_BYTES} bytes, this one has more.`),
            // The rest of the body is not waited for.
            { Connection: "close" },
        ),
});

/** Not for what has no body: to look for one costs more than the rest of a request. */
const limitBodies: MiddlewareHandler = (context, next) =>
    context.req.method === "GET" || context.req.method === "HEAD"
        ? next()
        : limitBody(context, next).catch(bodyCutShort);
