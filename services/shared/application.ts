import { type Context, Hono, type MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { methodNotAllowed } from "hono/method-not-allowed";
import { secureHeaders } from "hono/secure-headers";
import { bodyCutShort } from "./body";
import { type Log, reasonOf } from "./log";
import { createMetrics, measureRequests, type Metrics } from "./metrics";
import { plainProblem, ProblemError, problemResponse, problemType } from "./problem";
import { openScope } from "./scope";

/** Many times the largest order. A limit, because bodies are held in memory. */
const LONGEST_BODY_BYTES = 64 * 1024;

/** Probes and scrapes, which would drown everything else in the log. */
const ROUTINE = /^\/(?:health\/|metrics$)/;

/**
 * A Hono application with what all programs of the shop share:
 *
 * - Each request has a scope (`context.get("scope")`): its id, log and trace context. The response returns the id.
 * - Each request is logged once, after its response, and measured. `/metrics` serves the metrics to Prometheus.
 * - Unknown paths, unsupported methods, bodies over 64 KiB and unexpected errors get problem documents. The log has the
 *   details of an unexpected error; the client sees none.
 * - Responses have security headers. The Content-Security-Policy limits a page to files of its own origin.
 */
export function createApplication(log: Log, metrics: Metrics = createMetrics()): Hono {
    const application = new Hono();
    application.use(measureRequests(metrics), giveScope(log), security, limitBodies);
    application.use(
        methodNotAllowed({
            app: application,
            onMethodNotAllowed: ({ req }, methods) => {
                const allowed = methods.join(", ");
                const detail = `${req.path} supports ${allowed}, not ${req.method}.`;
                return problemResponse(plainProblem(405, detail), { Allow: allowed });
            },
        }),
    );
    application.get("/metrics", async (context) =>
        context.body(await metrics.metrics(), 200, { "Content-Type": metrics.contentType }),
    );
    application.notFound(({ req }) => problemResponse(plainProblem(404, `There is nothing at ${req.path}.`)));
    application.onError((error, context) => {
        if (error instanceof ProblemError) return problemResponse(error.problem, error.headers);
        const { method, path } = context.req;
        context.get("scope").log.error({ err: error, method, path }, "unexpected error");
        return problemResponse(plainProblem(500, "Unexpected error. The log has the details."));
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
        // Never the query or the headers: they may hold a secret.
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
    // TLS ends before the gateway, if at all: its Ingress decides whether a host requires TLS.
    strictTransportSecurity: false,
    // Over plain HTTP, browsers ignore these two and warn on the console.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
});

const limitBody = bodyLimit({
    maxSize: LONGEST_BODY_BYTES,
    onError: () =>
        problemResponse(
            plainProblem(413, `The body is longer than ${LONGEST_BODY_BYTES} bytes.`),
            // Does not wait for the rest of the body.
            { Connection: "close" },
        ),
});

/** Skips methods without a body: looking for one costs more than the rest of the request. */
const limitBodies: MiddlewareHandler = (context, next) =>
    context.req.method === "GET" || context.req.method === "HEAD"
        ? next()
        : limitBody(context, next).catch(bodyCutShort);

/**
 * What a program reads from its database, or writes to it.
 *
 * @param message what the log says of a failure, with its cause
 * @param detail what the client sees then
 * @throws ProblemError 503
 */
export async function orUnavailable<Result>(
    context: Context,
    asked: Promise<Result>,
    { message, detail, headers }: { message: string; detail: string; headers?: Record<string, string> },
): Promise<Result> {
    try {
        return await asked;
    } catch (error) {
        context.get("scope").log.warn({ cause: reasonOf(error) }, message);
        const [type, title] = [problemType("database-unavailable"), "The database is not available"];
        throw new ProblemError({ type, title, status: 503, detail }, headers);
    }
}
