import * as z from "zod";
import type { Cluster } from "../../cluster/client";
import type { Answer } from "./answer";
import { lackOfEndpoints } from "./api-server";
import { unended } from "./body";
import {
    endpointMistakes,
    endpointSchema,
    type EndpointSettings,
    pathSchema,
    type SecretReference,
} from "./endpoint-schema";
import { askEndpoint, endpointRights, serviceNamedBy } from "./endpoints";
import { parseJson } from "../../values/json";
import { excerpt, expectationSchema, type JsonExpectation, unmet } from "./values";
import { type CheckKind, type CheckSettings, checkSettingsSchema, plansService } from "./check-kind";
import { together } from "../../values/texts";
import { send } from "./request";
import { bodyMistakes, queryNamesIn, requestSchema, statusRange } from "./request-schema";
import { type Asking, timelyAnswer } from "./timely-answer";
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

const nothingSecret: Asking = { access: {}, hide: (text) => text };

export async function askOverHttp(
    check: HttpCheck,
    cluster: Cluster,
    route: Route,
    timeoutMs: number,
    asking = nothingSecret,
): Promise<Answer> {
    const { access, hide } = asking;
    const describe = ({ status }: Answer) => `status ${status}`;
    return timelyAnswer(check, asking, timeoutMs, describe, async (headers, signal, late) => {
        const reads = (status: number) => {
            const isWanted = wantsStatus(check, status);
            Object.assign(
                late,
                isWanted ? { problem: unended(status, timeoutMs) } : { status, problem: `status ${status}` },
            );
            if (!isWanted) return "beginning";
            return check.json === undefined ? "nothing" : "whole";
        };
        const { status, body, undecoded } = await send(
            { ...check, headers, timeoutMs, reads },
            cluster,
            route,
            signal,
            access,
        );
        if (undecoded && !wantsStatus(check, status))
            return { status, problem: `status ${status}, and the body ${undecoded}` };
        const problem = problemWith(check, status, body, hide);
        const lack = route.kind === "apiServer" ? problem && lackOfEndpoints(body, route.path, cluster) : undefined;
        return { status, problem: lack ? `status ${status}: ${lack}` : problem };
    });
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
