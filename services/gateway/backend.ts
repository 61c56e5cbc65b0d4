import { request } from "node:http";
import { backendResponseSchema, type BackendResponse } from "../shared/products";
import type { Scope } from "../shared/scope";
import { BackendFailure, failureOf } from "./failure";

/** One of the programs whose products the gateway lists. */
export interface Backend {
    /** The workload's name, as a client reads it in a problem document. */
    name: string;
    /** Where it is; its products are at `/products` there. */
    url: URL;
}

/** More than a thousand times a category's list; what is longer is not one, and must not fill the memory. */
const LONGEST_ANSWER_BYTES = 1024 * 1024;

/** How a backend is asked. */
export interface Exchange {
    /** The request on whose behalf it is asked. */
    scope: Scope;
    /**
     * How long it may take in all, in milliseconds: looking up the name, connecting, waiting and reading. It holds on
     * networks that refuse and on networks that drop, where connecting alone could take minutes.
     */
    timeoutMs: number;
    /** Ends the exchange at once; the promise rejects with the signal's reason. */
    cancelled?: AbortSignal;
}

/** Asks one backend for its products. @throws BackendFailure that says what happened */
export type Ask = (backend: Backend, exchange: Exchange) => Promise<BackendResponse>;

export const askBackend: Ask = async (backend, exchange) => {
    try {
        return readProducts(backend.name, await get(backend, exchange));
    } catch (error) {
        throw exchange.cancelled?.aborted ? exchange.cancelled.reason : failureOf(backend.name, error);
    }
};

/**
 * The body of a successful GET over a connection of its own, opened now and closed afterwards.
 *
 * Never a kept one: an established connection survives a new NetworkPolicy (the specification leaves it open;
 * kube-router, Calico and Antrea let it live), so a gateway with connections in stock would go on serving an isolated
 * backend's products and hide the attack. It also would not notice that the Service has other pods to offer.
 */
function get({ name, url }: Backend, { scope, timeoutMs, cancelled }: Exchange): Promise<string> {
    return new Promise<string>((resolve, reject) => {
        cancelled?.throwIfAborted();
        const headers = { ...scope.headers, Accept: "application/json", Connection: "close" };
        const outgoing = request(new URL("/products", url), { agent: false, headers });
        const giveUp = (reason: unknown) => {
            reject(reason);
            outgoing.destroy();
        };
        const refuse = (what: string) => giveUp(new BackendFailure(name, "bad-answer", `${name} answered with ${what}.`));

        // A timer and a listener by hand: signals cost node more than the rest of the exchange, and in Node 20 one made
        // by AbortSignal.any of AbortSignal.timeout can be garbage collected before it fires.
        const timeout = () => giveUp(new BackendFailure(name, "timeout", `${name} did not answer within ${timeoutMs} ms.`));
        const cancel = () => giveUp(cancelled?.reason);
        const timer = setTimeout(timeout, timeoutMs);
        cancelled?.addEventListener("abort", cancel);
        outgoing.on("close", () => {
            clearTimeout(timer);
            cancelled?.removeEventListener("abort", cancel);
        });

        outgoing.on("error", reject);
        outgoing.on("response", (response) => {
            if (response.statusCode !== 200) {
                return refuse(`status ${response.statusCode}`);
            }
            const chunks: Buffer[] = [];
            let bytes = 0;
            response.on("error", reject);
            response.on("data", (chunk: Buffer) => {
                bytes += chunk.length;
                chunks.push(chunk);
                if (bytes > LONGEST_ANSWER_BYTES) {
                    refuse("more than a product list");
                }
            });
            response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
        });
        outgoing.end();
    });
}

function readProducts(name: string, body: string): BackendResponse {
    const refuse = (cause: unknown) =>
        new BackendFailure(name, "bad-answer", `${name} answered with something that is not a product list.`, cause);
    let document: unknown;
    try {
        document = JSON.parse(body);
    } catch (error) {
        throw refuse(error);
    }
    const outcome = backendResponseSchema.safeParse(document);
    if (!outcome.success) {
        throw refuse(outcome.error);
    }
    return outcome.data;
}
