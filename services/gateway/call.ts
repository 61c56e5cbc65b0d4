import { Agent, request, type IncomingHttpHeaders } from "node:http";
import type { Scope } from "../shared/scope";
import { BackendFailure, failureOf } from "./failure";
import { cachedLookup } from "./names";

/** A program that the gateway calls. */
export interface Backend {
    /** The workload's name, which problem documents show. */
    name: string;
    url: URL;
}

export interface Exchange {
    /** The client's request. */
    scope: Scope;
    /**
     * Limit for the whole call, in milliseconds: DNS, connecting, waiting and reading. Where packets are dropped,
     * connecting alone could take minutes.
     */
    timeoutMs: number;
    /** Aborts the call, which then rejects with the signal's reason. */
    cancelled?: AbortSignal;
}

export interface Question {
    /** @default "GET" */
    method?: string;
    path: string;
    /** In addition to those of the scope. */
    headers?: Record<string, string>;
    /** @default none */
    body?: Buffer;
}

/** A backend's response, of any status. */
export interface Answer {
    status: number;
    headers: IncomingHttpHeaders;
    text: string;
}

/** Over a thousand times the length of a category's list. A limit, because responses are held in memory. */
const LONGEST_ANSWER_BYTES = 1024 * 1024;

const lookup = cachedLookup();

/** Keeps no connections. With `agent: false`, Node would create an agent per request. */
const agent = new Agent({ keepAlive: false });

/** Calls a backend. @throws BackendFailure if there is no response */
export async function call(backend: Backend, exchange: Exchange, question: Question): Promise<Answer> {
    try {
        return await overFreshConnection(backend, exchange, question);
    } catch (error) {
        throw exchange.cancelled?.aborted ? exchange.cancelled.reason : failureOf(backend.name, error);
    }
}

/**
 * Opens a connection, sends one request, and closes the connection.
 *
 * The gateway keeps no connections. An established one survives a new NetworkPolicy (the specification leaves it open;
 * in kube-router, Calico and Antrea it does), so the gateway would keep serving an isolated backend's products and hide
 * the attack. Nor would it use new pods of the Service.
 */
function overFreshConnection(
    { name, url }: Backend,
    { scope, timeoutMs, cancelled }: Exchange,
    question: Question,
): Promise<Answer> {
    return new Promise((resolve, reject) => {
        cancelled?.throwIfAborted();
        // Not resolved against the URL: a client's path could then lead to another host.
        const target = new URL(url);
        target.pathname = question.path;
        const headers = { ...scope.headers, Accept: "application/json", ...question.headers, Connection: "close" };
        const outgoing = request(target, { method: question.method, agent, headers, lookup });
        const giveUp = (reason: Error) => {
            reject(reason);
            outgoing.destroy();
        };

        // A timer and a listener instead of AbortSignals: those cost more than the rest of the call, and in Node 20
        // AbortSignal.any of AbortSignal.timeout can be garbage collected before it fires.
        const timeout = () => giveUp(new BackendFailure(name, "timeout", `did not answer within ${timeoutMs} ms.`));
        const cancel = () => giveUp(cancelled?.reason as Error);
        const timer = setTimeout(timeout, timeoutMs);
        cancelled?.addEventListener("abort", cancel);
        let answered = false;
        outgoing.on("close", () => {
            clearTimeout(timer);
            cancelled?.removeEventListener("abort", cancel);
            // After a 101 response (Switching Protocols), Node emits neither "response" nor "error".
            if (!answered) reject(new BackendFailure(name, "bad-answer", "closed the connection without an answer."));
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
                    const what = `answered with more than ${LONGEST_ANSWER_BYTES} bytes.`;
                    giveUp(new BackendFailure(name, "bad-answer", what));
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
