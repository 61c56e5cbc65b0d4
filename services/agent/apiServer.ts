import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";

const answerTimeoutMs = 10_000;

/** The API server refused a request. */
export class ApiError extends Error {
    constructor(
        readonly status: number,
        path: string,
    ) {
        super(`the API server answered ${status} to ${path.split("?")[0]}`);
        this.name = "ApiError";
    }
}

/** The two ways of reading from the API server that the agent needs. */
export interface ApiServer {
    /** @throws ApiError for any status but 200 */
    get<Answer>(path: string): Promise<Answer>;
    /**
     * Reads a watch line by line until the server ends it.
     *
     * @param silenceMs how long nothing may come, in milliseconds, before the connection counts as lost
     */
    watch(path: string, onLine: (line: string) => void, silenceMs: number): Promise<void>;
}

/**
 * The API server as a pod's account reaches it. The token is read each time, since the kubelet renews it.
 *
 * @param accountFolder where the account's `token` and the authority's `ca.crt` are
 */
export function apiServerOfPod(host: string, port: number, accountFolder: string): ApiServer {
    const base = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
    const ca = readFileSync(`${accountFolder}/ca.crt`, "utf8");
    const open = (path: string, silenceMs: number) =>
        new Promise<IncomingMessage>((resolve, reject) => {
            const headers = {
                authorization: `Bearer ${readFileSync(`${accountFolder}/token`, "utf8")}`,
                accept: "application/json",
            };
            const call = request(base + path, { ca, agent: false, headers }, (response) => {
                if (response.statusCode === 200) return resolve(response);
                response.resume();
                reject(new ApiError(response.statusCode!, path));
            });
            call.setTimeout(silenceMs, () => call.destroy(new Error(`the API server was silent for ${silenceMs} ms`)));
            call.on("error", reject);
            call.end();
        });
    return {
        async get<Answer>(path: string) {
            const chunks: Buffer[] = [];
            for await (const chunk of await open(path, answerTimeoutMs)) chunks.push(chunk as Buffer);
            return JSON.parse(Buffer.concat(chunks).toString("utf8")) as Answer;
        },
        async watch(path, onLine, silenceMs) {
            let rest = "";
            for await (const text of (await open(path, silenceMs)).setEncoding("utf8")) {
                const lines = (rest + (text as string)).split("\n");
                rest = lines.pop()!;
                lines.forEach(onLine);
            }
        },
    };
}
