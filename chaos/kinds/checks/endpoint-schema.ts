import { X509Certificate } from "node:crypto";
import { validateHeaderValue } from "node:http";
import * as z from "zod";
import { dnsLabel, dnsSubdomain } from "../../values/kubernetes-rules";
import {
    carriesCredential,
    credentialIn,
    credentialInPath,
    describeValueOf,
    storedInClear,
} from "../../values/credentials";
import { isHeaderName } from "../../values/http-method";
import {
    type Mistake,
    nameSchema as name,
    notAllowed,
    refusing,
    refusingEntries,
    repeatedHeader,
} from "../../values/texts";

/** What a check over HTTP asks, and how. Without `url` and `service` it asks the plan's Service. */
export interface EndpointSettings {
    /** Base URL with `http` or `https`, to which the path is added. Excludes `service`. */
    url?: string;
    /** Name of a Service. Excludes `url`. @default for `http` in the shop, the gateway's */
    service?: string;
    /** Namespace of `service`, and of Secrets and ConfigMaps that name none. @default the experiment's */
    namespace?: string;
    /** Number or name of a port of `service`. @default its only TCP port */
    port?: number | string;
    /** How `service` is asked. @default "http" */
    scheme?: "http" | "https";
    /** Certificates in PEM; only what they have signed is trusted. @default the CAs that Node.js trusts */
    ca?: string;
    /**
     * The same, in a ConfigMap, or a Secret: `{ kind: "Secret", name, key, namespace }`. `key` is `ca.crt` by default,
     * `namespace` the check's. Excludes `ca`.
     */
    caFrom?: CaReference;
    /** Host name that the certificate must be valid for. @default the host that is asked */
    serverName?: string;
    /** Names and values. `{uuid}` is a new UUID in each request. Never put secrets here: use `headersFrom`. */
    headers?: Record<string, string>;
    /** Headers from Secrets. */
    headersFrom?: Record<string, SecretReference>;
    /** Parameters from Secrets. They are encoded, and added to the query. */
    queryFrom?: Record<string, SecretReference>;
}

export interface CaReference {
    /** What has them. @default "ConfigMap" */
    kind?: "ConfigMap" | "Secret";
    /** Its name. */
    name: string;
    /** The entry with them. @default "ca.crt" */
    key?: string;
    /** Its namespace. @default the check's */
    namespace?: string;
}

export interface SecretReference {
    /** Name of the Secret. */
    secret: string;
    /** The entry with the value. */
    key: string;
    /** Text before the value, such as `Bearer `. */
    prefix?: string;
    /** Namespace of the Secret. @default the check's */
    namespace?: string;
}

/** What of a check's requests is in Secrets. */
export interface FromSecrets extends Pick<EndpointSettings, "headersFrom" | "queryFrom"> {
    bodyFrom?: Record<string, SecretReference>;
}

export const secretsOf = ({ headersFrom, queryFrom, bodyFrom }: FromSecrets): SecretReference[] =>
    [headersFrom, queryFrom, bodyFrom].flatMap((from) => Object.values(from ?? {}));

const objectName = name("the name of an object", dnsSubdomain);
const key = z
    .string()
    .regex(/^[-._a-zA-Z0-9]+$/, { error: notAllowed("letters, digits, dashes, dots and underscores", "a key") });

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

/** @param refused what else is wrong with a name, in words */
const byHeader = <T extends z.ZodType>(value: T, refused: (name: string) => string | false = () => false) =>
    z
        .record(z.string(), value)
        .superRefine(
            refusingEntries((name, _, all) => [
                !isHeaderName(name) && "not a header name",
                refused(name),
                repeatedHeader(name, all),
            ]),
        );

const headerValue = z.string().superRefine(
    refusing((value) => {
        const what = credentialIn(value);
        if (what) return storedInClear(what, inHeaders);
        return failing(
            () => validateHeaderValue("value", value),
            "not a header value; allowed: text in ISO 8859-1 (Latin-1) without control characters",
        );
    }),
);

const secretReference = z.strictObject({
    secret: objectName,
    key,
    prefix: z.string().max(20).optional(),
    namespace: name().optional(),
});

/** @param problem what is wrong with a name that does not match */
export const fromSecrets = (pattern: RegExp, problem: string) =>
    z.record(z.string(), secretReference).superRefine(refusingEntries((name) => [!pattern.test(name) && problem]));

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

/** Through the API server's proxy, such segments would lead to its other objects. */
const dotSegment = /^[^?]*[/\\](?:\.|%2e){1,2}(?:[/\\?]|$)/i;

/** @param example completes "such as …", in the error */
export const pathSchema = (example: string) =>
    z
        .string()
        .regex(/^\/(?!\/)\S*$/, { error: `not a path; allowed: a path such as ${example}` })
        .refine((path) => !dotSegment.test(path), { error: "must not have the segments . and .." })
        // `URL` makes other paths of these.
        .refine((path) => !path.includes("#"), { error: "a fragment is never sent; write # as %23" })
        .refine((path) => !/^[^?]*\\/.test(path), { error: "\\ stands for / in URLs; write it as %5C" })
        .superRefine(
            refusing((path) => {
                const what = credentialInPath(path);
                return what && storedInClear(what, "use queryFrom with a Secret");
            }),
        );

const notAPort = {
    error: notAllowed("a number from 1 to 65535, or the name of a port of the Service", "a port"),
};
const port = z.union(
    [z.int(notAPort).min(1, notAPort).max(65_535, notAPort), z.string().refine(dnsLabel().isValid, notAPort)],
    notAPort,
);

export const endpointSchema = {
    url: z.string().superRefine(refusing(problemWithUrl)).optional(),
    service: name().optional(),
    namespace: name().optional(),
    port: port.optional(),
    scheme: z.enum(["http", "https"]).optional(),
    ca: z
        .string()
        .superRefine(refusing(problemWithCa))
        // Plans are in environment variables, whose length is limited.
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
 * Contradictions in an endpoint, whose fields may be wrong on their own, too. @param query the names of its own
 * parameters
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
