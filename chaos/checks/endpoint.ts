/** What a check over HTTP asks, and how. Without `url` and `service` it asks the plan's Service. */
export interface EndpointSettings {
    /** Absolute base URL with `http` or `https`, to which the path is added. Excludes `service`. */
    url?: string;
    /** Name of a Service. Excludes `url`. @default for `http` in the shop, the gateway's */
    service?: string;
    /** Namespace of `service`, and of Secrets and ConfigMaps that name none. @default the experiment's */
    namespace?: string;
    /** Number or name of a port of `service`. @default its only TCP port */
    port?: number | string;
    /** How `service` is asked. @default "http" */
    scheme?: "http" | "https";
    /** Certificates in PEM: only what they have signed is trusted. For HTTPS. @default the CAs that Node.js trusts */
    ca?: string;
    /** The same, in a ConfigMap or Secret, read by each step when it begins. Excludes `ca`. */
    caFrom?: CaReference;
    /** Host name that the certificate must be valid for. For HTTPS. @default the host that is asked */
    serverName?: string;
    /**
     * Names and values. `{uuid}` in a value is a new UUID in each request. Never put secrets here: the state and
     * journals show them.
     */
    headers?: Record<string, string>;
    /** Headers whose values are in Secrets. Each step reads them when it begins; they are stored nowhere. */
    headersFrom?: Record<string, SecretReference>;
    /** Parameters whose values are in Secrets, read in the same way. They are encoded, and added to the query. */
    queryFrom?: Record<string, SecretReference>;
}

export interface CaReference {
    /** What holds the certificates. @default "ConfigMap" */
    kind?: "ConfigMap" | "Secret";
    /** Its name. */
    name: string;
    /** The entry with the certificates. @default "ca.crt" */
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
