import * as z from "zod";
import { messageOf } from "../../cluster/client";
import { withoutPeriod } from "../../cluster/problem";
import { answerOf, type Found } from "./answer";
import { unended } from "./body";
import { lackOfEndpoints } from "./api-server";
import { endpointMistakes, endpointSchema, type EndpointSettings, pathSchema } from "./endpoint-schema";
import { askEndpoint, endpointRights, type Usual } from "./endpoints";
import { withoutCredentials } from "../../values/credentials";
import { parseJson } from "../../values/json";
import { describeLimits, excerpt, limitMistakes, type Limits, missOf, numberLimits } from "./values";
import { type CheckKind, type CheckSettings, checkSettingsSchema } from "./check-kind";
import { together } from "../../values/texts";
import { type Response, send } from "./request";
import type { Route } from "./service";
import { onOneLine, shortened, wordOf } from "../../values/quoted";

/** Asks Prometheus, or a server with its API, for the current value of a query. */
export interface PrometheusCheck extends CheckSettings, EndpointSettings {
    kind: "prometheus";
    /** Number or name of a port of `service`. @default 9090 */
    port?: number | string;
    /** Path below which the API is, such as `/prometheus`. It follows that of `url`. @default none */
    path?: string;
    /** PromQL that gives a scalar, or an instant vector of which each sample must be good; at most 4000 characters. */
    query: string;
    /** The least good value. At least one limit, or `equals`, is required. @default no limit */
    atLeast?: number;
    /** The greatest good value. @default no limit */
    atMost?: number;
    /** The exact value. Excludes the limits. */
    equals?: number;
    /** Whether a vector without samples is good. @default false */
    allowEmpty?: boolean;
}

const path = pathSchema("/prometheus").refine((text) => !text.includes("?"), {
    error: "must not have a query; parameters are given by queryFrom",
});

const usual: Usual = { port: 9_090 };

export const prometheus: CheckKind<PrometheusCheck> = {
    examples: [{ kind: "prometheus", query: "up", service: "PROMETHEUS", namespace: "check", port: 9090, atLeast: 1 }],
    schema: z
        .strictObject({
            kind: z.literal("prometheus"),
            path: path.optional(),
            query: z.string().trim().min(1).max(4_000),
            ...numberLimits,
            equals: z.number().optional(),
            allowEmpty: z.boolean().optional(),
            ...endpointSchema,
            ...checkSettingsSchema,
        })
        .superRefine(
            ...together<PrometheusCheck>((check) => [
                ...limitMistakes(check),
                ...endpointMistakes(check, ["query", "timeout"]),
                ...(check.url === undefined && check.service === undefined
                    ? [{ field: "url", message: "missing; allowed: the `url` of Prometheus, or its `service`" }]
                    : []),
            ]),
        ),
    name: nameOf,
    describeSuccess: (check) => `values of ${nameOf(check)} were ${describeLimits(check)}`,
    usual,
    rights: (check, place) => endpointRights(check, { ...place, usual }),
    probe: (check, context, timeoutMs) =>
        askEndpoint(check, { ...context, usual }, timeoutMs, ({ route, access, hide }) => {
            const query = async (signal: AbortSignal, late: Found) => {
                const place = `${check.path?.replace(/\/$/, "") ?? ""}/api/v1/query`;
                const path = `${place}?query=${encodeURIComponent(check.query)}&timeout=${timeoutMs}ms`;
                const reads = (status: number) => {
                    late.problem = `Prometheus cannot be asked: ${unended(status, timeoutMs)}`;
                    return "whole" as const;
                };
                const response = await send(
                    { path, headers: check.headers, timeoutMs, reads },
                    context.cluster,
                    route,
                    signal,
                    access,
                ).catch((error: unknown) => {
                    const problem = withoutPeriod(messageOf(error));
                    throw new Error(hide(`Prometheus cannot be asked: ${problem}. ${whereToLook}`));
                });
                const lack = route.kind === "apiServer" && lackOfEndpoints(response.body, route.path, context.cluster);
                if (lack) throw new Error(lack);
                return { problem: problemWith(check, samplesIn(response, hide, askedBy(check, route, place)), hide) };
            };
            return answerOf(query, timeoutMs, "unseen");
        }),
};

/** What is asked, without the query, which may be secret. */
function askedBy({ service }: PrometheusCheck, route: Route, place: string): string {
    return route.kind === "address" ? route.url + place : `${place} of Service ${service}`;
}

const whereToLook = "Check that it runs, and `url`, or `service`, `namespace` and `port`";

function nameOf({ query }: PrometheusCheck): string {
    return shortened(query, 60);
}

interface Sample {
    /** As PromQL writes it, such as `up{job="shop"}`. Empty for a scalar. */
    series: string;
    value: number;
}

/** What is used of the HTTP API's answer. */
interface Answered {
    status?: string;
    message?: unknown;
    errorType?: string;
    error?: string;
    /** Set if a part of the data is missing, for example because a store is down. `infos` do not say that. */
    warnings?: unknown[] | null;
    /**
     * A cluster of VictoriaMetrics has this in place of `warnings`:
     * https://docs.victoriametrics.com/cluster-victoriametrics/#cluster-availability
     */
    isPartial?: boolean;
    data?: { resultType?: string; result?: unknown };
}

type RawSample = { metric: Record<string, string>; value?: [at: number, value: string] };

/** Before version 2.54, Prometheus put into its warnings what are `infos` now. */
const isRemark = /^PromQL info: /;

/** @throws Error if the answer is no value, which says nothing about the application */
function samplesIn({ status, body }: Response, hide: (text: string) => string, asked: string): Sample[] {
    const answered = (parseJson(body) ?? {}) as Answered;
    const { error, errorType, data, warnings } = answered;
    const words = (text: string) => excerpt(withoutCredentials(hide(text)));
    if (answered.status === "error")
        throw new Error(`Prometheus answered with an error (${wordOf(errorType)}): ${words(String(error))}`);
    if (answered.status !== "success") {
        // If a pod does not answer, the API server's proxy answers with a Status object.
        const { message } = answered;
        const text = words(typeof message === "string" ? message : body);
        throw new Error(
            `what was asked, ${hide(asked)}, is not Prometheus, or rejects the request: status ${status}: ${text}`,
        );
    }
    const texts = (warnings ?? []).map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
    const [first, ...others] = texts.filter((text) => !isRemark.test(text));
    if (first !== undefined) {
        const more = others.length === 0 ? "" : `, and ${others.length} more`;
        throw new Error(`Prometheus answered with ${more ? "warnings" : "a warning"}: ${words(first)}${more}`);
    }
    if (answered.isPartial === true) throw new Error("Prometheus answered with a part of the data (isPartial)");
    if (data?.resultType === "scalar") return [{ series: "", value: numberOf((data.result as [number, string])[1]) }];
    const samples = data?.resultType === "vector" ? (data.result as RawSample[]) : [];
    // A sample of a native histogram has no value.
    if (data?.resultType === "vector" && samples.every(({ value }) => value !== undefined))
        return samples.map(({ metric, value }) => ({ series: seriesOf(metric), value: numberOf(value![1]) }));
    const what = data?.resultType === "vector" ? "histograms" : `a ${wordOf(data?.resultType)}`;
    throw new Error(`the query gives ${what}; allowed: a query that gives a scalar or an instant vector of numbers`);
}

const numberOf = (text: string): number => Number(text.replace("Inf", "Infinity"));

/** PromQL puts other names of metrics and labels into quotes. */
const isPlain = (name: string) => /^[a-zA-Z_:][\w:]*$/.test(name);

function seriesOf({ __name__: name = "", ...labels }: Record<string, string>): string {
    const each = Object.entries(labels).map(
        ([label, value]) => `${isPlain(label) ? label : JSON.stringify(label)}=${JSON.stringify(value)}`,
    );
    if (isPlain(name)) return each.length > 0 ? `${name}{${each.join(", ")}}` : name;
    return `{${[...(name === "" ? [] : [JSON.stringify(name)]), ...each].join(", ")}}`;
}

/** The first sample that is not good, and how many others are not. */
function problemWith(
    { allowEmpty = false, ...limits }: Limits & { allowEmpty?: boolean },
    samples: readonly Sample[],
    hide: (text: string) => string,
): string | undefined {
    if (samples.length === 0) return allowEmpty ? undefined : "the query gives no samples";
    const misses = samples.flatMap(({ series, value }) => {
        const miss = missOf(value, limits);
        return miss === undefined ? [] : [`${onOneLine(hide(series), 120) || "the value"} ${miss}`];
    });
    const others = misses.length > 1 ? `, and ${misses.length - 1} more of ${samples.length} samples are not good` : "";
    return misses.length === 0 ? undefined : misses[0]! + others;
}
