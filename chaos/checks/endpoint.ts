/** What a check over HTTP asks, and how. Without `url` and `service` it asks the plan's Service. */
export interface EndpointSettings {
    /** Absolute base URL, to which the path is added. Excludes `service`. */
    url?: string;
    /** Name of a Service. Excludes `url`. */
    service?: string;
    /** Namespace of `service`, and of Secrets and ConfigMaps that name none. @default the plan's default namespace */
    namespace?: string;
    /** Number or name of a port of `service`. @default its only TCP port */
    port?: number | string;
    /** For `service`. @default "http" */
    scheme?: "http" | "https";
    /** Certificates, in PEM: only what one of them has signed is trusted. @default the CAs that Node.js trusts */
    ca?: string;
    /** The same, in a ConfigMap or Secret. Read by each step when it runs. */
    caFrom?: CaReference;
    /** Host name that the certificate must be valid for. @default the host that is asked */
    serverName?: string;
    /**
     * `{uuid}` in a value is replaced by a new UUID in each request. Never put secrets here: the state and journals
     * show them. @default none
     */
    headers?: Record<string, string>;
    /** Headers whose values are in Secrets. Read by each step when it runs, and stored nowhere. @default none */
    headersFrom?: Record<string, SecretReference>;
}

export interface CaReference {
    /** @default "ConfigMap" */
    kind?: "ConfigMap" | "Secret";
    name: string;
    /** @default "ca.crt" */
    key?: string;
    /** @default the check's */
    namespace?: string;
}

export interface SecretReference {
    /** Name of the Secret. */
    secret: string;
    key: string;
    /** Comes before the value, such as `Bearer `. @default nothing */
    prefix?: string;
    /** @default the check's */
    namespace?: string;
}
