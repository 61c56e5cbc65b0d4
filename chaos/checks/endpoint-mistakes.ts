import type { EndpointSettings } from "./endpoint";
import type { Mistake } from "./mistakes";

/** What contradicts itself in an endpoint, whose fields may be wrong on their own, too. */
export function endpointMistakes(check: Partial<EndpointSettings>): Mistake[] {
    const { url, service, namespace, port, scheme, ca, caFrom, serverName, headers, headersFrom } = check;
    const isHttps = url === undefined ? scheme === "https" : String(url).startsWith("https:");
    const needsService =
        url === undefined ? "needs `service`" : "belongs to `service`; with `url` it is part of the URL";
    const needsHttps = 'needs HTTPS; allowed with an https `url`, or with `service` and scheme: "https"';
    const own = Object.keys(headers ?? {}).map((name) => name.toLowerCase());
    const twice = Object.keys(headersFrom ?? {}).filter((name) => own.includes(name.toLowerCase()));
    const used = service ?? caFrom ?? headersFrom;
    const mistakes: (Mistake | false)[] = [
        url !== undefined &&
            service !== undefined && { field: "service", message: "excludes `url`; allowed: one of them" },
        service === undefined && port !== undefined && { field: "port", message: needsService },
        service === undefined && scheme !== undefined && { field: "scheme", message: needsService },
        used === undefined &&
            namespace !== undefined && {
                field: "namespace",
                message: "is that of `service`, `headersFrom` or `caFrom`, and there is none of them",
            },
        ca !== undefined && caFrom !== undefined && { field: "caFrom", message: "excludes `ca`; allowed: one of them" },
        ...Object.entries({ ca, caFrom, serverName }).map(
            ([field, value]) => value !== undefined && !isHttps && { field, message: needsHttps },
        ),
        ...twice.map((name) => ({
            field: `headersFrom.${name}`,
            message: "is in `headers`, too; allowed: one of them",
        })),
    ];
    return mistakes.filter((mistake) => mistake !== false);
}
