import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { type Agent, request } from "node:https";

/** An API server, and the ServiceAccount to call it with. */
export interface ApiServer {
    host: string | undefined;
    port: string | number | undefined;
    /** Folder with the account's `token` and the `ca.crt` of the server. */
    account: string;
}

/** What Kubernetes gives a pod. */
export const apiServerOfPod = (env: NodeJS.ProcessEnv = process.env): ApiServer => ({
    host: env.KUBERNETES_SERVICE_HOST,
    port: env.KUBERNETES_SERVICE_PORT,
    account: env.ACCOUNT_FOLDER ?? "/var/run/secrets/kubernetes.io/serviceaccount",
});

export const ownApiServer = apiServerOfPod();

export interface ApiCall {
    /** @default "GET" */
    method?: "GET" | "PATCH" | "DELETE" | "POST";
    /** A JSON merge patch for `PATCH`, `DeleteOptions` for `DELETE`, the object for `POST`. */
    body?: object;
    /** The call fails when the server sends nothing for this long, in milliseconds. @default 5000 */
    silenceMs?: number;
    signal?: AbortSignal;
    /** Connections to use. @default a new one for the call */
    agent?: Agent;
}

/**
 * Calls the API server, and resolves when the response begins: the caller reads its status and body, for example of a
 * watch. Each call reads the token again, because the kubelet renews it.
 */
export function openApi(path: string, call: ApiCall = {}, server = ownApiServer): Promise<IncomingMessage> {
    const { method = "GET", body, silenceMs = 5_000, signal, agent = false } = call;
    const { host, port, account } = server;
    const content = body && JSON.stringify(body);
    return new Promise((resolve, reject) => {
        let response: IncomingMessage | undefined;
        const outgoing = request(
            {
                host,
                port,
                method,
                path,
                agent,
                ca: readFileSync(`${account}/ca.crt`),
                timeout: silenceMs,
                signal,
                headers: {
                    authorization: `Bearer ${readFileSync(`${account}/token`, "utf8")}`,
                    accept: "application/json",
                    "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
                    // By itself, Node sends the body of a DELETE without a length, and the server ignores it.
                    "content-length": Buffer.byteLength(content ?? ""),
                },
            },
            (incoming) => resolve((response = incoming)),
        );
        outgoing.on("timeout", () =>
            (response ?? outgoing).destroy(new Error(`the API server sent nothing for ${silenceMs} ms`)),
        );
        outgoing.on("error", reject);
        outgoing.on("close", () => reject(new Error("the API server closed the connection without an answer")));
        outgoing.end(content);
    });
}

export interface ApiResponse {
    status: number;
    body: string;
    /** When it was sent, by the API server's clock, in milliseconds since the epoch. */
    sentAt: number;
}

export async function callApi(path: string, call?: ApiCall, server?: ApiServer): Promise<ApiResponse> {
    const response = await openApi(path, call, server);
    let body = "";
    for await (const text of response.setEncoding("utf8")) body += text as string;
    return { status: response.statusCode!, body, sentAt: sentAtOf(response) };
}

export function sentAtOf({ headers }: IncomingMessage): number {
    const sentAt = Date.parse(headers.date ?? "");
    return Number.isNaN(sentAt) ? Date.now() : sentAt;
}

/** The API server answered a reading call with another status than 200. */
export class ApiError extends Error {
    override readonly name = "ApiError";

    constructor(
        readonly status: number,
        path: string,
    ) {
        super(`the API server answered with status ${status} to ${path.split("?")[0]}`);
    }
}

/** Reads what a path has. @throws ApiError */
export async function readApi<T>(path: string, call?: ApiCall, server?: ApiServer): Promise<T> {
    const { status, body } = await callApi(path, call, server);
    if (status !== 200) throw new ApiError(status, path);
    return JSON.parse(body) as T;
}

/** Reads a watch line by line as it comes, until the server ends it. @throws ApiError */
export async function watchApi(
    path: string,
    onLine: (line: string) => void,
    call?: ApiCall,
    server?: ApiServer,
): Promise<void> {
    const response = await openApi(path, call, server);
    if (response.statusCode !== 200) {
        response.resume();
        throw new ApiError(response.statusCode!, path);
    }
    let rest = "";
    for await (const text of response.setEncoding("utf8")) {
        const lines = (rest + (text as string)).split("\n");
        rest = lines.pop()!;
        lines.forEach(onLine);
    }
}
