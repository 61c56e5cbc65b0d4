/** HTTP checks: https://github.com/steadybit/extension-http */
import { parseJson } from "../../../values/json";
import { type Fields, headersAt, Refusal } from "../fields";
import { checkAt, type Draft } from "../imported";
import { most as mostOfLoad } from "../../../kinds/actions/load/load-action";
import { mostPerSecond } from "../../../kinds/checks/check-kind";

const rateKeys = ["requestsPerSecond", "numberOfRequests"];

const statuses = /^(\d{3})(?:-(\d{3}))?$/;

export function httpOf(parameters: Fields, { durationMs }: { durationMs: number }): Draft {
    const [, least, most] = statuses.exec(parameters.text("statusCode") ?? "200-299") ?? [];
    if (least === undefined) parameters.refuse("is not one status or one range of them, such as 200-299", "statusCode");
    const mode = parameters.word("responseTimeMode", responseTimes, "NO_VERIFICATION");
    const responseMs = parameters.duration("responseTime");
    parameters.word("followRedirects", { false: "", true: new Refusal("redirects are not followed") }, "false");
    const unverified = new Refusal(
        "certificates are always verified: write false, and give the CA by the check's caFrom",
    );
    parameters.word("insecureSkipVerify", { false: "", true: unverified }, "false");
    if (parameters.text("failEarly") === "true")
        parameters.note("a check is judged when the window ends; to end the attack early: abortBelow", "failEarly");
    if (parameters.has("responsesContains"))
        parameters.refuse("a check reads JSON, not text: see json of the check http", "responsesContains");
    for (const [key, why] of [
        ["connectTimeout", "the time limit is of the whole request"],
        ["maxConcurrent", "requests are sent at their rate, also while answers are missing"],
    ] as const)
        if (parameters.has(key)) parameters.note(why, key);
    const share = parameters.number("successRate", { least: 1, most: 100 });
    const amount = parameters.number("numberOfRequests", { least: 1, most: 1e9 });
    const body = parameters.text("body");
    const json = body === undefined ? undefined : parseJson(body);
    if (body !== undefined && (typeof json !== "object" || json === null || Array.isArray(json)))
        parameters.refuse("is not an object in JSON", "body");
    const headers = parameters
        .objects("headers")
        .map((header) => [header.text("key") ?? "", header.text("value") ?? ""] as const);
    if (new Set(headers.map(([name]) => name.toLowerCase())).size < headers.length)
        parameters.refuse("names a header twice, but a check sends each once", "headers");
    return {
        ...checkAt(parameters, "url"),
        kind: "http",
        method: parameters.text("method"),
        body: json,
        headers: headersAt(parameters, "headers", headers),
        status: most === undefined ? Number(least) : [Number(least), Number(most)],
        maxLatencyMs: mode === "SHORTER_THAN" ? responseMs : undefined,
        timeoutMs: parameters.duration("readTimeout"),
        perSecond:
            amount === undefined
                ? parameters.number("requestsPerSecond", { least: 1, most: mostOfLoad.perSecond })
                : amount / (durationMs / 1_000),
        successRate: share === undefined ? undefined : share / 100,
    };
}

/** A check, and the load that sends its requests if these are more than a check sends. */
export function withLoad(check: Draft, parameters: Fields): { check: Draft; load?: Draft } {
    const { kind: _, name, maxLatencyMs, ...request } = check;
    const perSecond = Number(check.perSecond ?? 0);
    if (perSecond <= mostPerSecond) return { check };
    const key = rateKeys.find((each) => parameters.has(each));
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
