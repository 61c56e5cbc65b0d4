import { randomUUID } from "node:crypto";
import { request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import * as z from "zod";
import { type Cluster, messageOf } from "../cluster/client";
import { forbidden } from "../cluster/problem";
import { type Answer, answerOf, UnseenError } from "./answer";
import { refusalIn } from "./api-server";
import { expectationSchema, type JsonExpectation, parseJson, unmet } from "./json";
import { type CheckKind, type CheckSettings, checkSettingsSchema } from "./kind";
import type { Route } from "./service";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Sends a request to the plan's Service. */
export interface HttpCheck extends CheckSettings {
    kind: "http";
    /** Path of the request, such as `/products`. */
    path: string;
    /** @default "GET" */
    method?: (typeof methods)[number];
    /**
     * `{uuid}` in a value is replaced by a new UUID in each request. Never put secrets here: the state and journals
     * show them. @default none
     */
    headers?: Record<string, string>;
    /** Sent as JSON. @default none */
    body?: Record<string, unknown>;
    /** Good statuses: one, or a range with both ends included. @default [200, 299] */
    status?: number | [least: number, most: number];
    /** What the JSON of a good answer contains. @default anything */
    json?: JsonExpectation[];
    /** Slower answers are not good. @default any answer within `timeoutMs` */
    maxLatencyMs?: number;
}

const status = z.int().min(100).max(599);
const secretHeader = /authorization|cookie|token|secret|password|api-?key/i;
const headers = z.record(z.string(), z.string()).superRefine((all, context) => {
    for (const name of Object.keys(all)) {
        const refuse = (message: string) => context.addIssue({ code: "custom", path: [name], message });
        if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) refuse("not a header name");
        if (secretHeader.test(name)) refuse("secrets must not be in a definition: the state and journals show it");
    }
});

export const http = {
    schema: z.strictObject({
        kind: z.literal("http"),
        path: z.string().regex(/^\/(?!\/)\S*$/, { error: "not a path; allowed: a path such as /products" }),
        method: z.enum(methods).optional(),
        headers: headers.optional(),
        body: z.looseObject({}).optional(),
        status: z.union([status, z.tuple([status, status])]).optional(),
        json: z.array(expectationSchema).nonempty().optional(),
        maxLatencyMs: z.int().positive().optional(),
        ...checkSettingsSchema,
    }),
    name: nameOf,
    describeSuccess: (check) => `requests to ${nameOf(check)} succeeded`,
    rights: ({ method = "GET" }, { service }) =>
        service
            ? [
                  {
                      namespace: service.namespace,
                      resource: "services/proxy",
                      names: [`${service.name}:${service.port}`],
                      verbs: [proxyVerbs[method]],
                      why: "send the checks' requests through the API server",
                      without: "the checks need an address of the Service that answers from outside the cluster",
                  },
              ]
            : [],
    async look(check, { cluster, route, pulse }, timeoutMs) {
        const begun = performance.now();
        const answer = await askOverHttp(check, cluster, route!, timeoutMs);
        if (answer.good || answer.unseen || !pulse || (await pulse.answeredSince(begun))) return answer;
        const problem = `${answer.problem}, while the API server did not answer other requests either`;
        return { ...answer, problem, unseen: true };
    },
} satisfies CheckKind<HttpCheck>;

/** What the API server's proxy asks for a method. */
const proxyVerbs = {
    GET: "get",
    HEAD: "get",
    POST: "create",
    PUT: "update",
    PATCH: "patch",
    DELETE: "delete",
} as const satisfies Record<(typeof methods)[number], string>;

function nameOf({ method = "GET", path }: HttpCheck): string {
    return method === "GET" ? path : `${method} ${path}`;
}

/** Sends one request, over a fresh connection: an open connection survives a new NetworkPolicy and would hide it. */
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
    const problem = `status ${answer.status} after ${answer.latencyMs} ms (required: at most ${maxLatencyMs} ms)`;
    return { ...answer, good: false, problem };
}

/** Why an answer is not good. Undefined if it is. */
export function problemWith(check: HttpCheck, status: number, body: string): string | undefined {
    const { status: wanted = [200, 299], json = [] } = check;
    const [least, most] = typeof wanted === "number" ? [wanted, wanted] : wanted;
    if (status < least || status > most) return `status ${status}: ${detailOf(body)}`;
    if (json.length === 0) return undefined;
    const document = parseJson(body);
    if (document === undefined) return `status ${status}, but the body is not JSON`;
    const problem = unmet(json, document);
    return problem && `status ${status}, but ${problem}`;
}

interface Response {
    status: number;
    body: string;
}

async function send(check: HttpCheck, cluster: Cluster, route: Route, signal: AbortSignal): Promise<Response> {
    const body = check.body === undefined ? undefined : Buffer.from(JSON.stringify(check.body));
    const own = Object.entries(check.headers ?? {});
    const options: RequestOptions = {
        agent: false,
        method: check.method,
        signal,
        headers: {
            accept: "application/json",
            ...(body && { "content-type": "application/json", "content-length": body.length }),
            ...Object.fromEntries(own.map(([name, value]) => [name, value.replaceAll("{uuid}", () => randomUUID())])),
        },
    };
    if (route.kind === "address") {
        const unreached = (error: Error) => (isOfThisMachine(error) ? new UnseenError(messageOf(error)) : error);
        return exchange(new URL(check.path, route.url), options, unreached, body);
    }
    const url = new URL(cluster.kubeconfig.getCurrentCluster()!.server + route.path + check.path);
    const unreached = (error: Error) => new UnseenError(`the API server could not be asked: ${messageOf(error)}`);
    // Brings an agent that keeps connections, but only to the API server.
    await cluster.kubeconfig.applyToHTTPSOptions(options).catch((error: Error) => Promise.reject(unreached(error)));
    const response = await exchange(url, options, unreached, body);
    const refusal = refusalIn(response.body);
    if (refusal === undefined) return response;
    const told = response.status === 403 ? forbidden(refusal) : refusal;
    throw new UnseenError(`the API server answered with status ${response.status}: ${told}`);
}

/** No DNS, no network, no free port. A host that is unreachable may be one that the attack has cut off. */
const codesOfThisMachine = ["EADDRNOTAVAIL", "EAI_AGAIN", "EMFILE", "ENETDOWN", "ENETUNREACH", "ENOTFOUND"];

/** Whether a connection failed on this machine, before any request was sent: at each address, if there are several. */
export function isOfThisMachine(error: NodeJS.ErrnoException | AggregateError): boolean {
    const errors = ("errors" in error ? error.errors : [error]) as NodeJS.ErrnoException[];
    return errors.every(({ code }) => codesOfThisMachine.includes(code ?? ""));
}

/** @param unreached the error to report if there is no response at all */
function exchange(
    url: URL,
    options: RequestOptions,
    unreached: (error: Error) => Error,
    body?: Buffer,
): Promise<Response> {
    return new Promise((resolve, reject) => {
        const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, options, (response) => {
            const chunks: Buffer[] = [];
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("end", () =>
                resolve({ status: response.statusCode!, body: Buffer.concat(chunks).toString("utf8") }),
            );
            response.on("error", reject);
        });
        request.on("error", (error) => reject(unreached(error)));
        request.end(body);
    });
}

/** The sentence of a problem document (RFC 9457), else the beginning of the body. */
function detailOf(body: string): string {
    const problem = parseJson(body) as { detail?: unknown; title?: unknown; message?: unknown } | null | undefined;
    const sentence = [problem?.detail, problem?.title, problem?.message].find((text) => typeof text === "string");
    return (sentence ?? body).replace(/\s+/g, " ").slice(0, 200);
}
