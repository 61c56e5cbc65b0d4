/** HTTP checks: https://github.com/steadybit/extension-http */
import { parseJson } from "../../../values/json";
import { type Fields, headersAt, Refusal } from "../fields";
import { checkAt, type Draft } from "../imported";
import { most as mostOfLoad } from "../../../kinds/actions/load/load-action";
import { mostPerSecond } from "../../../kinds/checks/check-kind";

export const rateKeyIn = (parameters: Fields) =>
    parameters.has("numberOfRequests") ? "numberOfRequests" : "requestsPerSecond";

/** The least and the most of one status, or of a range. */
function statusesIn(text = "200-299"): [least: number, most: number] | undefined {
    const [, least, most = least] = /^(\d{3})(?:-(\d{3}))?$/.exec(text) ?? [];
    return least === undefined ? undefined : [Number(least), Number(most)];
}

export function noteFailEarly(parameters: Fields): void {
    if (parameters.text("failEarly") === "true")
        parameters.note("a check is judged when the window ends; to end the attack early: abortBelow", "failEarly");
}

export function httpOf(parameters: Fields, { durationMs }: { durationMs: number }): Draft {
    const status = statusesIn(parameters.text("statusCode"));
    if (!status) parameters.refuse("is not one status or one range of them, such as 200-299", "statusCode");
    const mode = parameters.word("responseTimeMode", responseTimes, "NO_VERIFICATION");
    const responseMs = parameters.duration("responseTime");
    if (mode === "SHORTER_THAN" && !parameters.has("responseTime")) parameters.refuse("is missing", "responseTime");
    parameters.word("responseTimeMeasurement", { TIME_TO_FIRST_BYTE: "" }, "TIME_TO_FIRST_BYTE");
    parameters.word("followRedirects", { false: "", true: new Refusal("redirects are not followed") }, "false");
    const unverified = new Refusal(
        "certificates are always verified: write false, and give the CA by the check's caFrom",
    );
    parameters.word("insecureSkipVerify", { false: "", true: unverified }, "false");
    noteFailEarly(parameters);
    if (parameters.has("responsesContains"))
        parameters.refuse("a check reads JSON, not text: see json of the check http", "responsesContains");
    for (const [key, why] of [
        ["connectTimeout", "the time limit is of the whole request"],
        ["maxConcurrent", "requests are sent at their rate, also while answers are missing"],
    ] as const)
        if (parameters.has(key)) parameters.note(why, key);
    const share = parameters.number("successRate", { least: 1, most: 100 });
    const amount = parameters.number("numberOfRequests", { least: 1, most: 1e9 });
    const ofAmount = amount && durationMs > 0 ? Math.round(amount / (durationMs / 100_000)) / 100 : undefined;
    if (Number(ofAmount) < 1)
        parameters.refuse(
            `is ${ofAmount} a second in this time; allowed: at least ${Math.ceil(durationMs / 1000)}`,
            "numberOfRequests",
        );
    const perSecond = ofAmount ?? parameters.number("requestsPerSecond", { least: 1, most: mostOfLoad.perSecond });
    const body = parameters.text("body");
    const json = body === undefined ? undefined : parseJson(body);
    if (body !== undefined && (typeof json !== "object" || json === null || Array.isArray(json)))
        parameters.refuse("is not an object in JSON", "body");
    const headers = parameters
        .objects("headers")
        .map((header) => [header.text("key") ?? "", header.text("value") ?? ""] as const);
    if (new Set(headers.map(([name]) => name.toLowerCase())).size < headers.length)
        parameters.refuse("names a header twice", "headers");
    return {
        ...checkAt(parameters, "url"),
        kind: "http",
        method: parameters.text("method")?.toUpperCase(),
        body: json,
        headers: headersAt(parameters, "headers", headers),
        status: status?.[0] === status?.[1] ? status?.[0] : status,
        maxLatencyMs: mode === "SHORTER_THAN" ? responseMs : undefined,
        timeoutMs: parameters.duration("readTimeout"),
        perSecond,
        successRate: share === undefined ? undefined : share / 100,
    };
}

/** What a request is, and what its answer must be besides its status. */
const [requestKeys, answerKeys] = [
    ["url", "method", "body", "headers"],
    ["responseTimeMode", "responseTime", "readTimeout", "responsesContains"],
];
const usual: Readonly<Record<string, string>> = { method: "GET", responseTimeMode: "NO_VERIFICATION" };

/** Whether a check wants what no server does all is well with: a status of 5xx, or no answer. */
export const isOfFailure = (check: Fields): boolean => /^\s*(?:5|error)/.test(check.apart().draft("statusCode") ?? "");

/** Whether the answers that a check wants are good for another one of the same request, or never are. */
export function compared(check: Fields, other: Fields): "good" | "never" | undefined {
    const [one, two] = [check, other].map((each) => each.apart()) as [Fields, Fields];
    const differs = (key: string) =>
        JSON.stringify(one.draft(key) ?? one.take(key) ?? usual[key]) !==
        JSON.stringify(two.draft(key) ?? two.take(key) ?? usual[key]);
    const good = statusesIn(two.draft("statusCode"));
    const wanted = statusesIn(one.draft("statusCode")) ?? good;
    if (!good || !wanted || requestKeys.some(differs)) return undefined;
    if (wanted[1] < good[0] || good[1] < wanted[0]) return "never";
    return good[0] <= wanted[0] && wanted[1] <= good[1] && !answerKeys.some(differs) ? "good" : undefined;
}

/** A check, and the load that sends its requests if these are more than a check sends. */
export function withLoad(check: Draft, parameters: Fields): { check: Draft; load?: Draft } {
    const { kind: _, name, maxLatencyMs, ...request } = check;
    const perSecond = Number(check.perSecond ?? 0);
    if (perSecond <= mostPerSecond) return { check };
    const key = rateKeyIn(parameters);
    if (!Number.isInteger(perSecond)) parameters.refuse(`is ${perSecond} a second; a load has a whole number`, key);
    parameters.note(
        `more than ${mostPerSecond} a second are a load here, which a pod in the cluster sends from before the ` +
            "attack until the run is over; the same request is also a check, at the usual rate",
        key,
    );
    const limitsMs = [maxLatencyMs, request.timeoutMs].filter((ms) => typeof ms === "number");
    const load = {
        ...{ ...request, kind: "load", name, perSecond, successRate: request.successRate ?? 1 },
        timeoutMs: limitsMs.length > 0 ? Math.min(...limitsMs) : undefined,
    };
    return { check: { ...check, name: undefined, perSecond: undefined }, load };
}

const responseTimes = {
    NO_VERIFICATION: "NO_VERIFICATION",
    SHORTER_THAN: "SHORTER_THAN",
    LONGER_THAN: new Refusal("a check has no least response time"),
};
