/** StatusCheck: https://github.com/chaos-mesh/chaos-mesh/blob/master/api/v1alpha1/statuscheck_types.go */
import type { Check } from "../../../kinds/checks/registry";
import { parseJson } from "../../../values/json";
import { type Fields, headersAt } from "../fields";
import { checkAt, onlyUnderAttack } from "../imported";

/** The longest name of a check. */
const longestName = 60;

/**
 * The check of a template of a workflow, with its place in the file. None if it waits for something.
 *
 * @param attack its name in the file
 * @param afterMs the least time between its begin and the attack's. NaN if it is not beside that: it is left out
 */
export function checkIn(template: Fields, attack: string, afterMs: number): { check: Check; place: string }[] {
    const spec = template.object("statusCheck");
    spec.take("type");
    spec.take("recordsHistoryLimit");
    // Chaos Mesh's webhook sets a missing mode.
    const lasts = spec.word("mode", { Synchronous: false, Continuous: true }, "Synchronous");
    if (lasts === false)
        template.note("waits until it succeeds, unless mode is Continuous; this is left out: see begin", "statusCheck");
    const bare = spec.apart();
    const ends = [template.apart().duration("deadline"), bare.duration("duration")].map((ms) => ms ?? Infinity);
    const why = Number.isNaN(afterMs)
        ? `is no child of a Parallel around ${attack}`
        : Math.min(...ends) <= afterMs
          ? `is over before ${attack} begins`
          : bare.object("http").object("criteria").draft("statusCode")?.startsWith("5") && onlyUnderAttack;
    if (lasts && why) template.note(`${why}, and is left out`, "statusCheck");
    if (!lasts || why) return [];
    if (template.has("abortWithStatusCheck"))
        template.note("ends the workflow early; here abortBelow of the check does that", "abortWithStatusCheck");
    for (const [fields, key] of [[template, "deadline"] as const, [spec, "duration"] as const])
        if (fields.has(key)) fields.note("a check lasts as long as the window", key);
    for (const [key, what] of [
        ["intervalSeconds", "default: 10; here a check sends a request each second, unless you set interval"],
        [
            "failureThreshold",
            "so many failures in a row fail it, default: 3; here one does, unless you set successRate",
        ],
    ] as const)
        if (spec.text(key) !== "1") spec.note(what, key);
    spec.take("successThreshold");
    const http = spec.object("http");
    spec.note("redirects are followed there; here their own status counts", "http");
    const headers = http.object("headers");
    for (const name of headers.keys())
        if (headers.texts(name).length !== 1) http.refuse("has a header with several values", "headers");
    const criteria = http.object("criteria");
    const status = criteria.text("statusCode");
    const [, least, most] = /^(\d{3})(?:-(\d{3}))?$/.exec(status ?? "") ?? [];
    if (least === undefined && (status !== undefined || !criteria.has("statusCode")))
        criteria.refuse("is not a status such as 200, or a range such as 200-299", "statusCode");
    if (Number(least) >= 400)
        criteria.note("must hold before the attack, too, as each check: else the run is ABORTED", "statusCode");
    criteria.refuseRest();
    const name = template.text("name");
    const body = http.text("body");
    const json = body === undefined ? undefined : parseJson(body);
    if (body !== undefined && (typeof json !== "object" || json === null))
        http.refuse("is not an object in JSON", "body");
    const check = {
        ...checkAt(http, "url"),
        kind: "http",
        name: name !== undefined && name.length <= longestName ? name : undefined,
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
    return [{ check: check as unknown as Check, place: template.at("statusCheck") }];
}
