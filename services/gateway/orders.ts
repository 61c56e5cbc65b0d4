import type { Context, Hono } from "hono";
import { bodyCutShort } from "../shared/body";
import { plainProblem, ProblemError } from "../shared/problem";
import type { Backend, call } from "./call";
import { BackendFailure } from "./failure";

export interface OrdersRouteArgs {
    /** In a shop without orders, a name that does not resolve. */
    orders: Backend;
    call: typeof call;
    /** How long it may take in all, in milliseconds. */
    upstreamTimeoutMs: number;
}

/** What orders may be told of a client's request, besides the scope, and the client of its answer. */
const PASSED_IN = ["content-type", "idempotency-key"];
const PASSED_OUT = ["content-type", "location", "retry-after", "allow", "accept", "cache-control"];

/**
 * Adds `POST /orders` and `GET /orders/{id}`, which orders answers, problem documents included. In a shop without orders
 * there is nothing at these paths, and the answer says how to get them.
 */
export function serveOrders(application: Hono, { orders, call, upstreamTimeoutMs: timeoutMs }: OrdersRouteArgs): void {
    const passOn = async (context: Context, path: string) => {
        const { method } = context.req;
        const body = method === "POST" ? Buffer.from(await context.req.arrayBuffer().catch(bodyCutShort)) : undefined;
        const headers = pick(PASSED_IN, (name) => context.req.header(name));
        try {
            const answer = await call(
                orders,
                { scope: context.get("scope"), timeoutMs },
                { method, path, headers, body },
            );
            return context.body(
                answer.text,
                answer.status as 200,
                pick(PASSED_OUT, (name) => answer.headers[name]?.toString()),
            );
        } catch (error) {
            throw error instanceof BackendFailure && error.unknownName ? takesNone() : error;
        }
    };
    application.post("/orders", (context) => passOn(context, "/orders"));
    // Not the path as it was written: an encoded slash or backslash in it could lead elsewhere in orders.
    application.get("/orders/:id", (context) =>
        passOn(context, `/orders/${encodeURIComponent(context.req.param("id"))}`),
    );
}

function pick(names: string[], valueOf: (name: string) => string | undefined): Record<string, string> {
    return Object.fromEntries(
        names.flatMap((name) => {
            const value = valueOf(name);
            return value === undefined ? [] : [[name, value]];
        }),
    );
}

const takesNone = () =>
    new ProblemError(
        plainProblem(
            404,
            "Not Found",
            "This shop takes no orders: it is variant four. Orders come with `pulumi config set variant seven && pulumi up`.",
        ),
    );
