/** HTTPChaos: https://github.com/chaos-mesh/chaos-mesh/blob/master/api/v1alpha1/httpchaos_types.go */
import { type Fields, headersAt, unlikeAny } from "../fields";
import type { Draft } from "../imported";
import type { Context, Read } from "./reader";

export function readHttpChaos(spec: Fields, { service }: Context): Read {
    if (service === undefined)
        spec.refuse("a fault needs the Service through which requests come, and the file has none: add --service NAME");
    const target = spec.word("target", { Request: "request", Response: "answer" });
    const isAborted = spec.word("abort", { true: true, false: false }, "false");
    const isCut = target === "answer" && isAborted;
    if (target === "answer" && !isCut)
        spec.note(
            "is of answers, after the pods have done their work; here requests are held or answered before they " +
                "reach the pods",
            "target",
        );
    if (isAborted && spec.has("delay")) spec.refuse("has no effect there beside abort: omit one", "delay");
    const answer = target === "answer" && spec.has("replace") ? answerIn(spec) : undefined;
    if (isAborted && answer !== undefined) spec.refuse("has no effect there beside abort: omit one", "replace");
    for (const key of ["patch", ...(target === "answer" ? [] : ["replace"])])
        if (spec.has(key)) spec.refuse(changes, key);
    if (isAborted === false && !["delay", "patch", "replace"].some((key) => spec.has(key)))
        spec.refuse("has none of abort, delay and replace, so nothing is done");
    if (spec.has("code"))
        spec.refuse(
            "chooses answers by their status, which a fault does not know before it hits. Nearest: without it, all " +
                "that match are hit",
            "code",
        );
    spec.note(
        "also hits what the pods send to this port, and requests that reach them past the Service; " +
            "here only requests through the Service are hit, on all of its ports",
        "port",
    );
    const match = matchOf(spec, service);
    // The pods do what was asked for, and their answers are cut off.
    const abort = isCut ? { cutAfter: 0 } : { abort: isAborted ? "reset" : answer };
    return { attack: { kind: "fault", service, delay: spec.text("delay"), ...abort, match } };
}

const changes = unlikeAny(
    "changes what is sent",
    "replace of a Response with a code from 400 to 599, which becomes a fault with abort",
).reason;

/** What is sent in place of the pods' answer. */
function answerIn(spec: Fields) {
    const replace = spec.object("replace");
    const code = replace.text("code");
    const status = Number(code);
    if (!replace.has("code")) spec.refuse(changes, "replace");
    else if (code !== undefined && !(status >= 400 && status <= 599)) replace.refuse(changes, "code");
    const headers = headersAt(replace, "headers", replace.textsByKey("headers"));
    const coded = replace.text("body") ?? "";
    const body = Buffer.from(coded, "base64").toString();
    if (Buffer.from(body).toString("base64") !== coded) replace.refuse("is no text in base64", "body");
    replace.refuseRest();
    return headers || body ? { status, headers, body: body || undefined } : status;
}

/**
 * Reads its selector (https://github.com/chaos-mesh/rs-tproxy). Paths there have the wildcards `*` and `?`; only a path
 * that ends in its only `*` means the same here.
 */
function matchOf(spec: Fields, service: string | undefined): Draft["match"] {
    for (const key of ["path", "method"]) if (spec.isEmpty(key)) spec.refuse("is empty, so no request matches", key);
    const [path, method] = [spec.text("path"), spec.text("method")];
    if (path !== undefined && !/^(?:\*|\/[^*?]*\*?)$/.test(path))
        spec.refuse("is neither a path such as /api/orders nor one that ends in its only *, such as /api/*", "path");
    const headers = spec.textsByKey("request_headers");
    for (const [header, host] of headers)
        if (header.toLowerCase() === "host" && service !== undefined && !isHostOf(service, host))
            spec.refuse(
                `names another host than Service ${service}, through which a fault's requests come; allowed: ` +
                    `${service}, ${service}.NAMESPACE or ${service}.NAMESPACE.svc, each also with a port. If its ` +
                    "callers send this host, move it to match in the result",
                `request_headers.${header}`,
            );
    const match = {
        path: path === "*" || path === "/*" ? undefined : path,
        method,
        headers: headersAt(spec, "request_headers", headers),
    };
    return Object.values(match).some((part) => part !== undefined) ? match : undefined;
}

function isHostOf(service: string, host: string): boolean {
    const [name, namespace, ...rest] = host.replace(/:\d+$/, "").split(".");
    return name === service && namespace !== "" && ["", "svc", "svc.cluster.local"].includes(rest.join("."));
}
