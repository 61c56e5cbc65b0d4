import type { Context, Hono } from "hono";
import { bodyCutShort } from "../shared/body";
import { waitMsOf } from "../shared/order";
import { plainProblem, ProblemError } from "../shared/problem";
import type { Backend, call } from "./call";
import { BackendFailure } from "./failure";

export interface OrdersRouteArgs {
    /** Its name does not resolve in a shop without orders. */
    orders: Backend;
    call: typeof call;
    upstreamTimeoutMs: number;
}

/** Headers passed from the client to orders, besides those of the scope, and back. */
const PASSED_IN = ["content-type", "idempotency-key", "prefer"];
const PASSED_OUT = ["content-type", "location", "retry-after", "allow", "accept", "cache-control"];

/**
 * Adds `POST /orders`, and `GET /orders/{id}` and `GET /orders/queue`, which pass requests on to orders. In a shop
 * without orders, they answer 404 and say how to get them.
 */
export function serveOrders(application: Hono, { orders, call, upstreamTimeoutMs }: OrdersRouteArgs): void {
    const passOn = async (context: Context, path: string) => {
        const { method } = context.req;
        const body = method === "POST" ? Buffer.from(await context.req.arrayBuffer().catch(bodyCutShort)) : undefined;
        const headers = pick(PASSED_IN, (name) => context.req.header(name));
        const timeoutMs = upstreamTimeoutMs + waitMsOf(headers.prefer);
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
            throw error instanceof BackendFailure && error.unknownName ? noOrders() : error;
        }
    };
    application.post("/orders", (context) => passOn(context, "/orders"));
    // Not the client's raw path: an encoded slash or backslash could lead to another path of orders.
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

const noOrders = () =>
    new ProblemError(
        plainProblem(
            404,
            "This shop is variant four, without orders. To get them: " +
                "npx pulumi config set variant seven --stack NAME && npx pulumi up --stack NAME",
        ),
    );
