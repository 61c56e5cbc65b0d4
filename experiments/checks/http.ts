import { randomUUID } from "node:crypto";
import { request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Cluster } from "../../shared/kubernetes";
import { type Answer, answerOf } from "./answer";
import type { CheckKind, CheckSettings } from "./check";
import { type JsonExpectation, unmet } from "./json";
import type { Route } from "./route";

/** Asks the gateway. */
export interface HttpCheck extends CheckSettings {
    kind: "http";
    /** What is asked, such as `/products`. */
    path: string;
    /** @default "GET" */
    method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
    /**
     * `{uuid}` in a value is another UUID in each request. Nothing secret: it is to be read in the state and in journals.
     *
     * @default none
     */
    headers?: Record<string, string>;
    /** Sent as JSON. @default none */
    body?: Record<string, unknown>;
    /** The statuses that are good: one, or the least and the most of them. @default 200 to 299 */
    status?: number | [least: number, most: number];
    /** What the JSON of a good answer says. @default anything */
    json?: JsonExpectation[];
    /** What takes longer is no good answer, though it came. @default whatever comes in time is */
    maxLatencyMs?: number;
}

export const http: CheckKind<HttpCheck> = {
    name: ({ method = "GET", path }) => (method === "GET" ? path : `${method} ${path}`),
    describeGood: (check) => `requests to ${http.name(check)} were answered well`,
    ask: (check, { cluster, route }, timeoutMs) => askOverHttp(check, cluster, route, timeoutMs),
};

/** Asks once, over a fresh connection: one that is kept open outlives a NetworkPolicy and would hide it. */
export async function askOverHttp(
    check: HttpCheck,
    cluster: Cluster,
    route: Route,
    timeoutMs: number,
): Promise<Answer> {
    const { maxLatencyMs = Infinity } = check;
    const answer = await answerOf(async (signal) => {
        const { status, body } = await send(check, cluster, route, signal);
        return { status, problem: problemWith(check, status, body) };
    }, timeoutMs);
    if (!answer.good || answer.latencyMs <= maxLatencyMs) return answer;
    return {
        ...answer,
        good: false,
        problem: `status ${answer.status} after ${answer.latencyMs} ms, and at most ${maxLatencyMs} ms were asked for`,
    };
}

/** Why an answer is not good; undefined where it is. */
export function problemWith(
    { status: wanted = [200, 299], json = [] }: HttpCheck,
    status: number,
    body: string,
): string | undefined {
    const [least, most] = typeof wanted === "number" ? [wanted, wanted] : wanted;
    if (status < least || status > most) return `status ${status}: ${detail(body)}`;
    if (json.length === 0) return undefined;
    const document = parsed(body);
    if (document === undefined) return `status ${status}, but the body is not JSON`;
    const problem = unmet(json, document);
    return problem && `status ${status}, but ${problem}`;
}

async function send(
    check: HttpCheck,
    cluster: Cluster,
    route: Route,
    signal: AbortSignal,
): Promise<{ status: number; body: string }> {
    const body = check.body === undefined ? undefined : Buffer.from(JSON.stringify(check.body));
    const headers = Object.entries(check.headers ?? {}).map(([name, value]) => [
        name,
        value.replaceAll("{uuid}", () => randomUUID()),
    ]);
    const options: RequestOptions = {
        agent: false,
        method: check.method,
        signal,
        headers: {
            accept: "application/json",
            ...(body && { "content-type": "application/json", "content-length": body.length }),
            ...Object.fromEntries(headers),
        },
    };
    if (route.kind === "address") return exchange(new URL(check.path, route.url), options, body);
    const url = new URL(cluster.kubeconfig.getCurrentCluster()!.server + route.path + check.path);
    await cluster.kubeconfig.applyToHTTPSOptions(options);
    // The kubeconfig brings an agent of its own, which keeps connections only to the API server.
    return exchange(url, options, body);
}

function exchange(url: URL, options: RequestOptions, body?: Buffer): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
        const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, options, (response) => {
            const chunks: Buffer[] = [];
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("end", () =>
                resolve({ status: response.statusCode!, body: Buffer.concat(chunks).toString("utf8") }),
            );
            response.on("error", reject);
        });
        request.on("error", reject);
        request.end(body);
    });
}

/** The sentence of a problem document (RFC 9457), or the beginning of whatever was sent instead. */
function detail(body: string): string {
    const problem = parsed(body) as Record<string, unknown> | undefined;
    const sentence = problem?.detail ?? problem?.title ?? problem?.message ?? body;
    return String(sentence).replace(/\s+/g, " ").slice(0, 200);
}

function parsed(body: string): object | undefined {
    try {
        const value: unknown = JSON.parse(body);
        return typeof value === "object" && value !== null ? value : undefined;
    } catch {
        return undefined;
    }
}
