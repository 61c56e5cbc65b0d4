import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { addresses } from "./addresses";
import type { NodeLayout } from "./layout";
import { pkiFiles } from "./pki";

/** A Kubernetes object, as far as the sandbox reads it. */
export interface KubernetesObject {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown };
    readonly [field: string]: unknown;
}

interface CallOptions {
    /** Sent as JSON. */
    readonly body?: unknown;
    readonly contentType?: string;
    readonly timeoutSeconds?: number;
}

/**
 * The sandbox's own calls to its API server, as administrator. Plain HTTPS: a client library would take longer to load
 * than an `up` with nothing to do.
 */
export class SandboxApi {
    private readonly agent: Agent;

    /** @throws if there are no certificates: the node was never up. */
    constructor(layout: NodeLayout) {
        const files = pkiFiles(layout);
        this.agent = new Agent({
            keepAlive: true,
            ca: readFileSync(files.clusterAuthority),
            cert: readFileSync(files.certificate("admin")),
            key: readFileSync(files.key("admin")),
        });
    }

    /**
     * @returns the parsed answer, or its text if it is not JSON.
     * @throws without an answer within `timeoutSeconds` (default 5), and on a status other than 2xx.
     */
    async call<T = unknown>(method: "GET" | "PATCH", path: string, options: CallOptions = {}): Promise<T> {
        const { status, text } = await this.send(method, path, options);
        if (status < 200 || status > 299) throw new Error(`${method} ${path}: status ${status}: ${message(text)}`);
        try {
            return JSON.parse(text) as T;
        } catch {
            return text as T;
        }
    }

    /** Creates or updates the object (server-side apply). */
    async apply(object: KubernetesObject): Promise<void> {
        await this.call("PATCH", `${objectPath(object)}?fieldManager=sandbox&force=true`, {
            body: object,
            contentType: "application/apply-patch+yaml", // JSON is YAML
        });
    }

    /** Whether the API server is ready; false also without an answer. */
    async isReady(): Promise<boolean> {
        return this.call("GET", "/readyz", { timeoutSeconds: 2 }).then(
            (answer) => answer === "ok",
            () => false,
        );
    }

    close(): void {
        this.agent.destroy();
    }

    private send(
        method: string,
        path: string,
        { body, contentType = "application/json", timeoutSeconds = 5 }: CallOptions,
    ): Promise<{ status: number; text: string }> {
        return new Promise((resolve, reject) => {
            const call = request(
                {
                    agent: this.agent,
                    host: addresses.node,
                    port: addresses.apiPort,
                    method,
                    path,
                    headers: body === undefined ? {} : { "content-type": contentType },
                    signal: AbortSignal.timeout(timeoutSeconds * 1000),
                },
                (answer) => {
                    let text = "";
                    answer.setEncoding("utf8").on("data", (part: string) => (text += part));
                    answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
                    answer.on("error", reject);
                },
            );
            call.on("error", (error) => reject(new Error(`${method} ${path}: ${error.message}`)));
            call.end(body === undefined ? undefined : JSON.stringify(body));
        });
    }
}

/** The message of a Status object, or the text itself. */
function message(text: string): string {
    try {
        return (JSON.parse(text) as { message?: string }).message ?? text;
    } catch {
        return text.trim();
    }
}

/** Kinds whose plural does not end in -s alone. */
const irregularPlurals: Readonly<Record<string, string>> = {
    StorageClass: "storageclasses",
    PriorityClass: "priorityclasses",
};

/** The REST path of an object, for example `/apis/apps/v1/namespaces/kube-system/deployments/coredns`. */
export function objectPath({ apiVersion, kind, metadata }: KubernetesObject): string {
    const plural = irregularPlurals[kind] ?? `${kind.toLowerCase()}s`;
    const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const namespace = metadata.namespace ? `/namespaces/${metadata.namespace}` : "";
    return `${group}${namespace}/${plural}/${metadata.name}`;
}
