import { X509Certificate } from "node:crypto";
import { validateHeaderName, validateHeaderValue } from "node:http";
import * as z from "zod";
import { allowedName, isName } from "../texts";
import type { EndpointSettings } from "./endpoint";
import type { Mistake } from "../texts";

const name = z
    .string()
    .refine(isName, { error: ({ input }) => `"${String(input)}" is not allowed; allowed: ${allowedName}` });
const objectName = z.string().regex(/^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/, {
    error: ({ input }) =>
        `"${String(input)}" is not the name of an object; allowed: lower-case letters, digits, dashes and dots`,
});
const key = z.string().regex(/^[-._a-zA-Z0-9]+$/, {
    error: ({ input }) => `"${String(input)}" is not a key; allowed: letters, digits, dashes, dots and underscores`,
});

const url = z.string().superRefine((text, context) => {
    const problem = problemWithUrl(text);
    if (problem) context.addIssue({ code: "custom", message: problem });
});

function problemWithUrl(text: string): string | undefined {
    const form = "allowed: http:// or https://, a host, and if needed a port and a path, such as https://shop.example";
    // A URL that cannot be read may hold a password.
    if (!URL.canParse(text)) return `not an absolute URL; ${form}`;
    const { protocol, username, password, search, hash, href } = new URL(text);
    if (username || password)
        return "a URL must not hold a user or password: the state and journals show it. Use headersFrom";
    if (!["http:", "https:"].includes(protocol)) return `"${href}" has the scheme ${protocol}; ${form}`;
    return search || hash
        ? `"${href}" has a query or a fragment; ${form}, and the rest in the path of the check`
        : undefined;
}

const secretHeader = /authorization|cookie|token|secret|password|api-?key/i;
const headerMistake = (check: () => void, problem: string) => {
    try {
        check();
        return undefined;
    } catch {
        return problem;
    }
};
const nameMistake = (header: string) => headerMistake(() => validateHeaderName(header), "not a header name");

const headers = z.record(z.string(), z.string()).superRefine((all, context) => {
    for (const [header, value] of Object.entries(all)) {
        const refuse = (message: string | undefined | false) =>
            message && context.addIssue({ code: "custom", path: [header], message });
        refuse(nameMistake(header));
        refuse(
            headerMistake(() => validateHeaderValue("value", value), "a header value must not have control characters"),
        );
        refuse(
            secretHeader.test(header) &&
                "secrets must not be in a definition: the state and journals show it; use headersFrom, which names a " +
                    "Secret",
        );
    }
});

const headersFrom = z
    .record(
        z.string(),
        z.strictObject({
            secret: objectName,
            key,
            prefix: z.string().max(20).optional(),
            namespace: name.optional(),
        }),
    )
    .superRefine((all, context) => {
        for (const header of Object.keys(all)) {
            const message = nameMistake(header);
            if (message) context.addIssue({ code: "custom", path: [header], message });
        }
    });

/** What is wrong with certificates in PEM, in words. */
export function problemWithCa(pem: string): string | undefined {
    if (pem.includes("PRIVATE KEY-----")) return "holds a private key; allowed: certificates";
    const certificates = pem.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
    if (certificates.length === 0)
        return "holds no certificate; allowed: PEM, which begins with -----BEGIN CERTIFICATE-----";
    return headerMistake(
        () => certificates.forEach((text) => new X509Certificate(text)),
        "holds a certificate that cannot be read; allowed: certificates in PEM",
    );
}

const notAPort = { error: "not a port; allowed: a number from 1 to 65535, or the name of a port of the Service" };
const port = z.union(
    [
        z.int(notAPort).min(1, notAPort).max(65_535, notAPort),
        z.string().regex(/^[a-z0-9](?:[-a-z0-9]{0,13}[a-z0-9])?$/, notAPort),
    ],
    notAPort,
);

export const endpointSchema = {
    url: url.optional(),
    service: name.optional(),
    namespace: name.optional(),
    port: port.optional(),
    scheme: z.enum(["http", "https"]).optional(),
    ca: z
        .string()
        // Plans are in environment variables and annotations.
        .max(20_000, { error: "longer than 20000 characters; put it into a ConfigMap, and set `caFrom`" })
        .superRefine((pem, context) => {
            const message = problemWithCa(pem);
            if (message) context.addIssue({ code: "custom", message });
        })
        .optional(),
    caFrom: z
        .strictObject({
            kind: z.enum(["ConfigMap", "Secret"]).optional(),
            name: objectName,
            key: key.optional(),
            namespace: name.optional(),
        })
        .optional(),
    serverName: z
        .string()
        .regex(/^(?=.{1,253}$)[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i, {
            error: "not a host name; allowed: a name such as shop.example",
        })
        .optional(),
    headers: headers.optional(),
    headersFrom: headersFrom.optional(),
};

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
