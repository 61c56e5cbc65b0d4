/** One request to an API server: how all programs send it. */
import { type ClientRequest, type IncomingMessage, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { type Duplex, pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import type { ApiCall, ApiResponse } from "./verbs";

/** Where requests go, and what each says of who sends it. */
export interface Destination {
    /** The server's address, without a slash at its end. */
    server: string;
    /** Credentials and connections. */
    options: RequestOptions;
}

export interface SentCall extends ApiCall {
    /** @default JSON */
    accept?: string;
    /** The call fails when the server sends nothing for this long, in milliseconds. @default no limit */
    silenceMs?: number;
    headers?: RequestOptions["headers"];
}

/** Sends a request, and resolves when the response begins: the caller reads its status and body. */
export function send(path: string, call: SentCall, to: Destination): Promise<IncomingMessage> {
    const { method = "GET", body, accept = "application/json", silenceMs } = call;
    const content = body && JSON.stringify(body);
    const answer = new Promise<IncomingMessage>((resolve, reject) => {
        let response: IncomingMessage | undefined;
        const outgoing = opened(to, path, {
            method,
            ...(silenceMs !== undefined && { timeout: silenceMs }),
            signal: call.signal,
            headers: {
                accept,
                ...(content !== undefined && { "content-type": contentType(call) }),
                // Node would send the body of a DELETE without a length, and the server would ignore it.
                "content-length": Buffer.byteLength(content ?? ""),
                ...call.headers,
            },
        });
        outgoing.on("response", (incoming) => resolve((response = incoming)));
        if (silenceMs !== undefined)
            outgoing.on("timeout", () =>
                (response ?? outgoing).destroy(new Error(`the API server sent nothing for ${silenceMs} ms`)),
            );
        outgoing.on("error", (error) => reject(Object.assign(error, { wasReused: outgoing.reusedSocket })));
        outgoing.on("close", () => reject(new Error("the API server closed the connection without an answer")));
        outgoing.end(content);
    });
    return untilAborted(answer, call.signal);
}

function contentType({ method, mergesLists }: ApiCall): string {
    if (method !== "PATCH") return "application/json";
    return `application/${mergesLists ? "strategic-" : ""}merge-patch+json`;
}

/** Whether a request failed over a kept connection: the server may have closed that a moment before. */
export const wasOnKept = (error: unknown): boolean => (error as { wasReused?: boolean }).wasReused === true;

/** Node says nothing of a request that is aborted before it has a connection, for which a proxy may take long. */
function untilAborted<T>(answer: Promise<T>, signal?: AbortSignal): Promise<T> {
    if (signal === undefined) return answer;
    return new Promise((resolve, reject) => {
        const stop = () => reject(new DOMException("The operation was aborted", "AbortError"));
        if (signal.aborted) stop();
        signal.addEventListener("abort", stop);
        answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
    });
}

/** Asks for another protocol on the connection. @returns the connection, and what came on it; or another answer */
export function upgrade(
    path: string,
    headers: RequestOptions["headers"],
    to: Destination,
    signal: AbortSignal,
): Promise<{ response: IncomingMessage; socket?: Duplex; head?: Buffer }> {
    type Upgraded = Awaited<ReturnType<typeof upgrade>>;
    const answer = new Promise<Upgraded>((resolve, reject) => {
        const outgoing = opened(to, path, { headers: { connection: "Upgrade", ...headers }, signal });
        outgoing.on("response", (response) => resolve({ response }));
        outgoing.on("upgrade", (response, socket, head) => resolve({ response, socket, head }));
        outgoing.on("error", reject);
        outgoing.on("close", () => reject(new Error("the API server closed the connection without an answer")));
        outgoing.end();
    });
    return untilAborted(answer, signal);
}

function opened({ server, options }: Destination, path: string, own: RequestOptions): ClientRequest {
    const url = new URL(server + path);
    const request = url.protocol === "https:" ? httpsRequest : httpRequest;
    // Impersonation has values that each need a header of their own.
    const headers = { ...options.headers, ...own.headers };
    return request(url, { ...options, ...own, headers });
}

/** Reads a whole answer. @throws what the signal says, if it ends that */
export async function answerOf(response: IncomingMessage, signal?: AbortSignal): Promise<ApiResponse> {
    let body = "";
    const isPacked = response.headers["content-encoding"] === "gzip" && response.headers["content-length"] !== "0";
    try {
        const read = isPacked ? pipeline(response, createGunzip(), () => undefined) : response;
        for await (const text of read.setEncoding("utf8")) body += text as string;
    } catch (error) {
        // Node.js only says that the connection was closed.
        throw signal?.aborted ? new DOMException("The operation was aborted", "AbortError") : error;
    }
    return { status: response.statusCode!, body, sentAt: sentAtOf(response) };
}

export function sentAtOf({ headers }: IncomingMessage): number {
    const at = Date.parse(headers.date ?? "");
    return Number.isNaN(at) ? Date.now() : at;
}

/** Reads an answer line by line as it comes, until the server ends it. */
export async function eachLine(response: IncomingMessage, onLine: (line: string) => void): Promise<void> {
    let rest = "";
    for await (const text of response.setEncoding("utf8")) {
        const lines = (rest + (text as string)).split("\n");
        rest = lines.pop()!;
        lines.filter(Boolean).forEach(onLine);
    }
}
