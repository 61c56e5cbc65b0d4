import { X509Certificate } from "node:crypto";
import { validateHeaderName, validateHeaderValue } from "node:http";
import * as z from "zod";
import { dnsLabel, dnsSubdomain } from "../../values/kubernetes-rules";
import {
    carriesCredential,
    credentialIn,
    credentialInPath,
    describeValueOf,
    storedInClear,
} from "../../values/credentials";
import type { EndpointSettings, FromSecrets } from "./endpoint";
import { type Mistake, nameSchema as name, notAllowed } from "../../values/texts";

const objectName = name("the name of an object", dnsSubdomain);
const key = z
    .string()
    .regex(/^[-._a-zA-Z0-9]+$/, { error: notAllowed("letters, digits, dashes, dots and underscores", "a key") });

/** A text with which nothing is wrong. @param problemWith what is wrong with it, in words */
const textWithout = (problemWith: (text: string) => string | undefined) =>
    z.string().superRefine((text, context) => {
        const message = problemWith(text);
        if (message) context.addIssue({ code: "custom", message });
    });

function problemWithUrl(text: string): string | undefined {
    const form = "allowed: http:// or https://, a host, and if needed a port and a path, such as https://shop.example";
    // A URL that cannot be read may hold a password.
    if (!URL.canParse(text)) return `not an absolute URL; ${form}`;
    const { protocol, username, password, search, hash } = new URL(text);
    if (username || password) return storedInClear("a user or a password", inHeaders);
    if (!["http:", "https:"].includes(protocol)) return `has another scheme; ${form}`;
    return search || hash ? `has a query or a fragment; ${form}, and the rest in the path of the check` : undefined;
}

const inHeaders = "use headersFrom with a Secret";

export function failing(check: () => void, problem: string): string | undefined {
    try {
        check();
        return undefined;
    } catch {
        return problem;
    }
}

/** Values by the names of headers. @param refused what is wrong with a name, in words */
const byHeader = <T extends z.ZodType>(value: T, refused: (name: string) => string | false = () => false) =>
    z.record(z.string(), value).superRefine((all, context) => {
        for (const name of Object.keys(all))
            for (const message of [failing(() => validateHeaderName(name), "not a header name"), refused(name)])
                if (message) context.addIssue({ code: "custom", path: [name], message });
    });

const headerValue = textWithout((value) => {
    const what = credentialIn(value);
    if (what) return storedInClear(what, inHeaders);
    return failing(() => validateHeaderValue("value", value), "a header value must not have control characters");
});

const secretReference = z.strictObject({
    secret: objectName,
    key,
    prefix: z.string().max(20).optional(),
    namespace: name().optional(),
});

/** Values in Secrets, by names. @param problem what is wrong with a name that does not match */
export const fromSecrets = (pattern: RegExp, problem: string) =>
    z.record(z.string(), secretReference).superRefine((all, context) => {
        for (const name of Object.keys(all).filter((name) => !pattern.test(name)))
            context.addIssue({ code: "custom", path: [name], message: problem });
    });

export function problemWithCa(pem: string): string | undefined {
    if (pem.includes("PRIVATE KEY-----")) return "holds a private key; allowed: certificates";
    const certificates = pem.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
    if (certificates.length === 0)
        return "holds no certificate; allowed: PEM, which begins with -----BEGIN CERTIFICATE-----";
    return failing(
        () => certificates.forEach((text) => new X509Certificate(text)),
        "holds a certificate that cannot be read; allowed: certificates in PEM",
    );
}

/** Through the API server's proxy they would lead to its other objects. */
const dotSegment = /^[^?]*[/\\](?:\.|%2e){1,2}(?:[/\\?]|$)/i;

/** A path as it is sent, with or without a query. @param example completes "such as …", in the error */
export const pathSchema = (example: string) =>
    z
        .string()
        .regex(/^\/(?!\/)\S*$/, { error: `not a path; allowed: a path such as ${example}` })
        .refine((path) => !dotSegment.test(path), { error: "must not have the segments . and .." })
        // What URLs make of these is another path.
        .refine((path) => !path.includes("#"), { error: "a fragment is never sent; write # as %23" })
        .refine((path) => !/^[^?]*\\/.test(path), { error: "\\ stands for / in URLs; write it as %5C" })
        .superRefine((path, context) => {
            const what = credentialInPath(path);
            const message = what && storedInClear(what, "use queryFrom with a Secret");
            if (message) context.addIssue({ code: "custom", message });
        });

const notAPort = { error: "not a port; allowed: a number from 1 to 65535, or the name of a port of the Service" };
const port = z.union(
    [z.int(notAPort).min(1, notAPort).max(65_535, notAPort), z.string().refine(dnsLabel().isValid, notAPort)],
    notAPort,
);

export const endpointSchema = {
    url: textWithout(problemWithUrl).optional(),
    service: name().optional(),
    namespace: name().optional(),
    port: port.optional(),
    scheme: z.enum(["http", "https"]).optional(),
    ca: textWithout(problemWithCa)
        // Plans are in environment variables.
        .max(20_000, { error: "longer than 20000 characters; put it into a ConfigMap, and set `caFrom`" })
        .optional(),
    caFrom: z
        .strictObject({
            kind: z.enum(["ConfigMap", "Secret"]).optional(),
            name: objectName,
            key: key.optional(),
            namespace: name().optional(),
        })
        .optional(),
    serverName: z
        .string()
        .regex(/^(?=.{1,253}$)[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i, {
            error: "not a host name; allowed: a name such as shop.example",
        })
        .optional(),
    headers: byHeader(
        headerValue,
        (name) => carriesCredential(name) && storedInClear(describeValueOf(name), inHeaders),
    ).optional(),
    headersFrom: byHeader(secretReference).optional(),
    queryFrom: fromSecrets(/./, "not the name of a parameter; allowed: such as access_token").optional(),
};

/**
 * What contradicts itself in an endpoint, whose fields may be wrong on their own, too.
 *
 * @param query the names of its own parameters
 */
export function endpointMistakes(check: Partial<EndpointSettings & FromSecrets>, query: readonly string[]): Mistake[] {
    const { url, service, namespace, port, scheme, ca, caFrom, serverName, headers, headersFrom, queryFrom } = check;
    const isHttps = url === undefined ? scheme === "https" : String(url).startsWith("https:");
    const needsService =
        url === undefined ? "needs `service`" : "belongs to `service`; with `url` it is part of the URL";
    const needsHttps = 'needs HTTPS; allowed with an https `url`, or with `service` and scheme: "https"';
    const own = Object.keys(headers ?? {}).map((name) => name.toLowerCase());
    const twice = Object.keys(headersFrom ?? {}).filter((name) => own.includes(name.toLowerCase()));
    const used = service ?? caFrom ?? headersFrom ?? queryFrom ?? check.bodyFrom;
    const mistakes: [isWrong: boolean, field: string, message: string][] = [
        [url !== undefined && service !== undefined, "service", "excludes `url`; allowed: one of them"],
        [service === undefined && port !== undefined, "port", needsService],
        [service === undefined && scheme !== undefined, "scheme", needsService],
        [
            used === undefined && namespace !== undefined,
            "namespace",
            "is that of `service`, `headersFrom`, `queryFrom`, `bodyFrom` or `caFrom`, and there is none of them",
        ],
        [ca !== undefined && caFrom !== undefined, "caFrom", "excludes `ca`; allowed: one of them"],
        [ca !== undefined && !isHttps, "ca", needsHttps],
        [caFrom !== undefined && !isHttps, "caFrom", needsHttps],
        [serverName !== undefined && !isHttps, "serverName", needsHttps],
    ];
    return [
        ...mistakes.flatMap(([isWrong, field, message]) => (isWrong ? { field, message } : [])),
        ...twice.map((name) => ({
            field: `headersFrom.${name}`,
            message: "is in `headers`, too; allowed: one of them",
        })),
        ...query
            .filter((name) => Object.hasOwn(queryFrom ?? {}, name))
            .map((name) => ({ field: "queryFrom", message: `the request has the parameter ${name} already` })),
    ];
}
