import { request, type IncomingMessage } from "node:http";
import type { Context, Hono } from "hono";
import { reasonOf } from "../shared/log";
import { plainProblem, ProblemError } from "../shared/problem";
import { BackendFailure, failureOf } from "./failure";

export interface OrdersRouteArgs {
    /** Where orders is; in a shop without orders, a name that does not resolve. */
    ordersUrl: URL;
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
export function serveOrders(application: Hono, args: OrdersRouteArgs): void {
    application.post("/orders", (context) => passOn(context, args));
    application.get("/orders/:id", (context) => passOn(context, args));
}

async function passOn(context: Context, { ordersUrl, upstreamTimeoutMs }: OrdersRouteArgs): Promise<Response> {
    const { method, path } = context.req;
    const scope = context.get("scope");
    const body = method === "POST" ? Buffer.from(await context.req.arrayBuffer()) : undefined;
    const headers: Record<string, string | number> = { ...scope.headers, Connection: "close", ...(body && { "content-length": body.length }) };
    for (const name of PASSED_IN) {
        const value = context.req.header(name);
        if (value !== undefined) headers[name] = value;
    }
    const patience = new AbortController();
    const timer = setTimeout(
        () => patience.abort(new BackendFailure("orders", "timeout", `orders did not answer within ${upstreamTimeoutMs} ms.`)),
        upstreamTimeoutMs,
    );
    try {
        // The path as a client wrote it may lead elsewhere once it is resolved against an address.
        const url = new URL(ordersUrl);
        url.pathname = path;
        const answer = await exchange(url, { method, headers, signal: patience.signal }, body);
        const told = Object.fromEntries(PASSED_OUT.flatMap((name) => (answer.headers[name] === undefined ? [] : [[name, String(answer.headers[name])]])));
        return context.body(answer.text, answer.status as 200, told);
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOTFOUND") {
            throw new ProblemError(
                plainProblem(404, "Not Found", "This shop takes no orders: it is variant four. Orders come with `pulumi config set variant seven && pulumi up`."),
            );
        }
        const failure: BackendFailure = patience.signal.aborted ? patience.signal.reason : failureOf("orders", error);
        scope.log.warn({ backend: "orders", kind: failure.kind, cause: reasonOf(failure.cause) }, failure.message);
        throw failure;
    } finally {
        clearTimeout(timer);
    }
}

/** One exchange over a connection of its own, for the reason that `backend.ts` gives. */
function exchange(
    url: URL, options: { method: string; headers: Record<string, string | number>; signal: AbortSignal }, body: Buffer | undefined,
): Promise<{ status: number; headers: IncomingMessage["headers"]; text: string }> {
    return new Promise((resolve, reject) => {
        const outgoing = request(url, { ...options, agent: false }, (response) => {
            const chunks: Buffer[] = [];
            response.on("error", reject);
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("end", () => resolve({ status: response.statusCode!, headers: response.headers, text: Buffer.concat(chunks).toString("utf8") }));
        });
        outgoing.on("error", reject);
        outgoing.end(body);
    });
}
