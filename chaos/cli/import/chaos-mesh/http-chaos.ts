/** HTTPChaos: https://github.com/chaos-mesh/chaos-mesh/blob/master/api/v1alpha1/httpchaos_types.go */
import { type Fields, headersAt } from "../fields";
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
            "is of the answers, so the pods have done what was asked for by then; here requests are held or answered " +
                "before they reach the pods",
            "target",
        );
    if (isAborted && spec.has("delay")) spec.refuse("has no effect there beside abort: omit one", "delay");
    const status = target === "answer" && spec.has("replace") ? statusIn(spec.object("replace")) : undefined;
    if (isAborted && status !== undefined) spec.refuse("has no effect there beside abort: omit one", "replace");
    for (const key of ["patch", ...(target === "answer" ? [] : ["replace"])])
        if (spec.has(key))
            spec.refuse(
                "changes what is sent; no attack does that. Nearest: replace with a code from 400 to 599 of a " +
                    "Response, which becomes a fault with abort",
                key,
            );
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
    const abort = isCut ? { cutAfter: 0 } : { abort: isAborted ? "reset" : status };
    return { attack: { kind: "fault", service, delay: spec.text("delay"), ...abort, match } };
}

function statusIn(replace: Fields): number | undefined {
    const status = replace.number("code", { least: 400, most: 599 });
    if (!replace.has("code")) replace.refuse("is missing, and nothing else can be replaced", "code");
    replace.refuseRest();
    return status;
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
                `names another host than Service ${service}, so it is of requests that the pods send, and a fault is ` +
                    `of requests through the Service; allowed: ${service}, ${service}.NAMESPACE or ` +
                    `${service}.NAMESPACE.svc, each also with a port. If callers of the Service send this host, ` +
                    "remove it here, and add it to match in the result",
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
