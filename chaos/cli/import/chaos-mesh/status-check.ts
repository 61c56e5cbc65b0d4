/** StatusCheck: https://github.com/chaos-mesh/chaos-mesh/blob/master/api/v1alpha1/statuscheck_types.go */
import type { Check } from "../../../kinds/checks/registry";
import { parseJson } from "../../../values/json";
import { type Fields, headersAt } from "../fields";
import { checkAt } from "../imported";

/** The check of a template of a workflow. None if it waits for something, or cannot be said. */
export function checkIn(template: Fields): Check[] {
    if (template.has("abortWithStatusCheck"))
        template.note("ends the workflow early; here abortBelow of the check does that", "abortWithStatusCheck");
    const spec = template.object("statusCheck");
    spec.take("type");
    spec.take("recordsHistoryLimit");
    // Chaos Mesh's webhook sets a missing mode.
    const lasts = spec.word("mode", { Synchronous: false, Continuous: true }, "Synchronous");
    if (lasts === false)
        template.note("waits until it succeeds, unless mode is Continuous; this is left out: see begin", "statusCheck");
    if (!lasts) return [];
    for (const [key, what] of [
        ["duration", "a check lasts as long as the window"],
        ["intervalSeconds", "a check sends a request each second; set interval to change that"],
        ["failureThreshold", "no answer may fail; set successRate to change that"],
        ["successThreshold", "is of another mode"],
    ] as const)
        if (spec.has(key)) spec.note(what, key);
    const http = spec.object("http");
    const headers = http.object("headers");
    for (const name of headers.keys())
        if (headers.texts(name).length !== 1) http.refuse("has a header with several values", "headers");
    const [, least, most] = /^(\d{3})(?:-(\d{3}))?$/.exec(http.object("criteria").text("statusCode") ?? "") ?? [];
    const body = http.text("body");
    const json = body === undefined ? undefined : parseJson(body);
    if (body !== undefined && (typeof json !== "object" || json === null))
        http.refuse("is not an object in JSON", "body");
    const check = {
        ...checkAt(http, "url"),
        kind: "http",
        method: http.text("method"),
        headers: headersAt(
            http,
            "headers",
            headers.keys().flatMap((name) => headers.texts(name).map((one) => [name, one] as const)),
        ),
        body: json,
        status: most === undefined ? least && Number(least) : [Number(least), Number(most)],
        timeoutMs: (spec.number("timeoutSeconds", { least: 1, most: 60 }) ?? 1) * 1_000,
    };
    http.refuseRest();
    spec.refuseRest();
    return [check as unknown as Check];
}
