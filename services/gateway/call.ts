import { Agent, request, type IncomingHttpHeaders } from "node:http";
import type { Scope } from "../shared/scope";
import { BackendFailure, failureOf } from "./failure";
import { rememberingLookup } from "./lookup";

/** One of the programs that the gateway asks. */
export interface Backend {
    /** The workload's name, as a client reads it in a problem document. */
    name: string;
    url: URL;
}

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

/** What a backend is asked. */
export interface Question {
    /** @default "GET" */
    method?: string;
    path: string;
    /** Besides those of the scope. */
    headers?: Record<string, string>;
    /** @default none */
    body?: Buffer;
}

/** What a backend answered, of whatever status. */
export interface Answer {
    status: number;
    headers: IncomingHttpHeaders;
    text: string;
}

/** More than a thousand times a category's list; what is longer is no answer of ours, and must not fill the memory. */
const LONGEST_ANSWER_BYTES = 1024 * 1024;

const lookup = rememberingLookup();

/** Keeps no connection. To ask for none (`agent: false`) would have Node make another of these for each request. */
const agent = new Agent({ keepAlive: false });

/** Asks a backend something. @throws BackendFailure that says why there is no answer */
export async function call(backend: Backend, exchange: Exchange, question: Question): Promise<Answer> {
    try {
        return await overOwnConnection(backend, exchange, question);
    } catch (error) {
        throw exchange.cancelled?.aborted ? exchange.cancelled.reason : failureOf(backend.name, error);
    }
}

/**
 * One question and its answer over a connection of its own, opened now and closed afterwards.
 *
 * Never a kept one: an established connection survives a new NetworkPolicy (the specification leaves it open;
 * kube-router, Calico and Antrea let it live), so a gateway with connections in stock would go on serving an isolated
 * backend's products and hide the attack. It also would not notice that the Service has other pods to offer.
 */
function overOwnConnection(
    { name, url }: Backend,
    { scope, timeoutMs, cancelled }: Exchange,
    question: Question,
): Promise<Answer> {
    return new Promise((resolve, reject) => {
        cancelled?.throwIfAborted();
        // A path that a client wrote could lead elsewhere if it were resolved against the address.
        const target = new URL(url);
        target.pathname = question.path;
        const headers = { ...scope.headers, Accept: "application/json", ...question.headers, Connection: "close" };
        const outgoing = request(target, { method: question.method, agent, headers, lookup });
        const giveUp = (reason: unknown) => {
            reject(reason);
            outgoing.destroy();
        };

        // A timer and a listener by hand: signals cost node more than the rest of the exchange, and in Node 20 one made
        // by AbortSignal.any of AbortSignal.timeout can be garbage collected before it fires.
        const timeout = () =>
            giveUp(new BackendFailure(name, "timeout", `${name} did not answer within ${timeoutMs} ms.`));
        const cancel = () => giveUp(cancelled?.reason);
        const timer = setTimeout(timeout, timeoutMs);
        cancelled?.addEventListener("abort", cancel);
        let answered = false;
        outgoing.on("close", () => {
            clearTimeout(timer);
            cancelled?.removeEventListener("abort", cancel);
            // After an answer of 101, which asks for another protocol, node says neither "response" nor "error".
            if (!answered)
                reject(new BackendFailure(name, "bad-answer", `${name} closed the connection without an answer.`));
        });

        outgoing.on("error", reject);
        outgoing.on("response", (response) => {
            answered = true;
            const chunks: Buffer[] = [];
            let bytes = 0;
            response.on("error", reject);
            response.on("data", (chunk: Buffer) => {
                bytes += chunk.length;
                chunks.push(chunk);
                if (bytes > LONGEST_ANSWER_BYTES) {
                    giveUp(
                        new BackendFailure(
                            name,
                            "bad-answer",
                            `${name} answered with more than ${LONGEST_ANSWER_BYTES} bytes.`,
                        ),
                    );
                }
            });
            response.on("end", () =>
                resolve({
                    status: response.statusCode!,
                    headers: response.headers,
                    text: Buffer.concat(chunks).toString("utf8"),
                }),
            );
        });
        outgoing.end(question.body);
    });
}
