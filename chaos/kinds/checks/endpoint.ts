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
