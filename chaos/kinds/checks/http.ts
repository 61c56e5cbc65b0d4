import * as z from "zod";
import type { Cluster } from "../../cluster/client";
import { type Answer, answerOf } from "./answer";
import { lackOfEndpoints, spoiledBySilence } from "./api-server";
import { unended } from "./body";
import {
    endpointMistakes,
    endpointSchema,
    type EndpointSettings,
    pathSchema,
    type SecretReference,
} from "./endpoint-schema";
import { askEndpoint, type Endpoint, endpointRights, serviceNamedBy } from "./endpoints";
import { parseJson } from "../../values/json";
import { excerpt, expectationSchema, type JsonExpectation, unmet } from "./values";
import { type CheckContext, type CheckKind, type CheckSettings, checkSettingsSchema, plansService } from "./check-kind";
import { together } from "../../values/texts";
import { send } from "./request";
import { bodyMistakes, queryNamesIn, requestSchema, statusRange } from "./request-schema";
import { newTraceparent } from "../../values/trace-mark";
import type { Route } from "./service";

/** Sends a request to a Service or a URL. */
export interface HttpCheck extends CheckSettings, EndpointSettings {
    kind: "http";
    /** Path of the request, such as `/products`. */
    path: string;
    /** Method as it is sent, such as `POST` or `PURGE`, but not `CONNECT`. Case counts. @default "GET" */
    method?: string;
    /** Object that is sent as JSON. Never put secrets here: use `bodyFrom`. */
    body?: Record<string, unknown>;
    /** Fields of the body from Secrets, by their paths, such as `login.password`. */
    bodyFrom?: Record<string, SecretReference>;
    /** The good status, or the first and the last of a range; 100 to 599. @default [200, 299] */
    status?: number | [least: number, most: number];
    /** What the JSON of a good answer must contain. @default anything */
    json?: JsonExpectation[];
    /** Slower answers are bad, in milliseconds. @default `timeoutMs` */
    maxLatencyMs?: number;
}

export const http: CheckKind<HttpCheck> = {
    examples: [
        { kind: "http", path: "/" },
        { kind: "http", path: "/", method: "POST" },
        {
            kind: "http",
            path: "/",
            service: "OTHER",
            namespace: "check",
            scheme: "https",
            headersFrom: { "x-key": { secret: "SECRET", key: "key" } },
            caFrom: { name: "CONFIGMAP" },
        },
    ],
    schema: z
        .strictObject({
            kind: z.literal("http"),
            path: pathSchema("/products"),
            ...endpointSchema,
            ...requestSchema,
            json: z.array(expectationSchema).nonempty().optional(),
            maxLatencyMs: z.int().positive().optional(),
            ...checkSettingsSchema,
        })
        .superRefine(
            ...together<HttpCheck>((check) => [
                ...endpointMistakes(check, queryNamesIn(check.path)),
                ...bodyMistakes(check),
                ...(check.method === "HEAD" && check.json !== undefined ? [ofHead] : []),
            ]),
        ),
    name: nameOf,
    describeSuccess: (check) => `requests to ${nameOf(check)} succeeded`,
    isTrial: true,
    showsLatency: true,
    overNetwork: true,
    limitMs: ({ maxLatencyMs }) => maxLatencyMs,
    asks: (check, defaultNamespace) =>
        serviceNamedBy(check, defaultNamespace) ?? (check.url === undefined ? plansService : undefined),
    rights: (check, place) => endpointRights(check, place, proxyVerbs[check.method ?? "GET"] ?? null),
    probe: (check, context, timeoutMs) =>
        askEndpoint(check, context, timeoutMs, ({ route, ...rest }) =>
            askOverHttp(check, context.cluster, route, timeoutMs, {
                ...rest,
                pulse: context.pulse,
                traceKey: context.traceKey,
            }),
        ),
};

const ofHead = { field: "json", message: "an answer to HEAD has no body; allowed with another method" };

/**
 * The verbs for methods that the API server's proxy passes on. It knows no verb for OPTIONS, which requires all rights.
 */
const proxyVerbs: Partial<Record<string, string>> = {
    ...{ GET: "get", HEAD: "get", POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete", OPTIONS: "*" },
};

function nameOf({ method = "GET", path, url, service }: HttpCheck): string {
    const place = url === undefined ? path : url.replace(/\/$/, "") + path;
    const request = method === "GET" ? place : `${method} ${place}`;
    return service === undefined ? request : `${request} of ${service}`;
}

const nothingSecret: Omit<Endpoint, "route"> & Pick<CheckContext, "pulse" | "traceKey"> = {
    access: {},
    hide: (text) => text,
};

export async function askOverHttp(
    check: HttpCheck,
    cluster: Cluster,
    route: Route,
    timeoutMs: number,
    { access, hide, pulse, traceKey } = nothingSecret,
): Promise<Answer> {
    const { maxLatencyMs = Infinity } = check;
    const begun = performance.now();
    const traced = tracedBy(check, access, traceKey);
    const answer = await answerOf(async (signal, late) => {
        const reads = (status: number) => {
            const isWanted = wantsStatus(check, status);
            Object.assign(
                late,
                isWanted ? { problem: unended(status, timeoutMs) } : { status, problem: `status ${status}` },
            );
            if (!isWanted) return "beginning";
            return check.json === undefined ? "nothing" : "whole";
        };
        const request = { ...check, headers: { ...traced?.headers, ...check.headers }, timeoutMs, reads };
        const { status, body, undecoded } = await send(request, cluster, route, signal, access);
        if (undecoded && !wantsStatus(check, status))
            return { status, problem: `status ${status}, and the body ${undecoded}` };
        const problem = problemWith(check, status, body, hide);
        const lack = route.kind === "apiServer" ? problem && lackOfEndpoints(body, route.path, cluster) : undefined;
        return { status, problem: lack ? `status ${status}: ${lack}` : problem };
    }, timeoutMs);
    if (answer.good && answer.latencyMs <= maxLatencyMs) return answer;
    const { stalledMs = 0 } = answer;
    const ofThem = stalledMs > 0 ? `, of which this machine was busy or asleep for ${stalledMs} ms` : "";
    const problem = answer.good
        ? `status ${answer.status} after ${answer.latencyMs} ms${ofThem} (required: at most ${maxLatencyMs} ms)`
        : hide(answer.problem!);
    const bad = { ...answer, good: false, problem, ...(traced && { traceId: traced.traceId }) };
    if (answer.good && answer.latencyMs - stalledMs <= maxLatencyMs) return { ...bad, unseen: true };
    // The answer is only late. The application is not to blame if this machine's network stalled for half that time.
    return answer.good && pulse?.wasSilentSince(begun) ? spoiledBySilence(bad) : bad;
}

/** Begins a new trace. Undefined if the definition has the header `traceparent` itself. */
function tracedBy({ headers }: HttpCheck, access: Endpoint["access"], key: string | undefined) {
    const own = Object.keys({ ...headers, ...access.headers }).map((name) => name.toLowerCase());
    if (own.includes("traceparent")) return undefined;
    const { traceId, traceparent } = newTraceparent(key);
    return { traceId, headers: { traceparent } };
}

function wantsStatus({ status: wanted }: HttpCheck, status: number): boolean {
    const [least, most] = statusRange(wanted);
    return status >= least && status <= most;
}

/** Why an answer is not good. @param hide hides secrets in what is quoted */
export function problemWith(
    check: HttpCheck,
    status: number,
    body: string,
    hide = nothingSecret.hide,
): string | undefined {
    const { json = [] } = check;
    if (!wantsStatus(check, status)) return `status ${status}: ${detailOf(body, hide)}`;
    if (json.length === 0) return undefined;
    const document = parseJson(body);
    if (document === undefined) return `status ${status}, but the body is not JSON`;
    const problem = unmet(json, document, hide);
    return problem && `status ${status}, but ${problem}`;
}

/** The sentence of a problem document (RFC 9457), or the beginning of the body. */
function detailOf(body: string, hide: (text: string) => string): string {
    const problem = parseJson(body) as { detail?: unknown; title?: unknown; message?: unknown } | null | undefined;
    const sentence = [problem?.detail, problem?.title, problem?.message].find((text) => typeof text === "string");
    // Secrets are hidden first, because a part of one would not be found.
    return excerpt(hide(sentence ?? body));
}
