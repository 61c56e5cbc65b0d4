import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { addresses } from "./addresses";
import type { NodeLayout } from "./layout";
import { pkiFiles } from "./pki";

/** A Kubernetes object as far as the sandbox looks into it. */
export interface KubernetesObject {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown };
    readonly [field: string]: unknown;
}

/**
 * The few calls that the sandbox itself makes to its API server, as administrator. Plain HTTPS: a whole client library
 * would take longer to load than an `up` with nothing to do may last.
 */
export class SandboxApi {
    private readonly agent: Agent;

    /** @throws if the certificates are not there: the node was never up. */
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
     * @param body sent as JSON.
     * @returns the parsed answer, or its text where it is not JSON.
     * @throws on no answer within `timeoutSeconds` (default 5) and on every status that is not 2xx.
     */
    async call<T = unknown>(
        method: "GET" | "PATCH" | "POST" | "DELETE",
        path: string,
        options: { body?: unknown; contentType?: string; timeoutSeconds?: number } = {},
    ): Promise<T> {
        const { status, text } = await this.send(method, path, options);
        if (status < 200 || status > 299) throw new Error(`${method} ${path}: status ${status}: ${message(text)}`);
        try {
            return JSON.parse(text) as T;
        } catch {
            return text as T;
        }
    }

    /** Creates the object or brings it to what is given here (server-side apply). */
    async apply(object: KubernetesObject): Promise<void> {
        await this.call("PATCH", `${objectPath(object)}?fieldManager=sandbox&force=true`, {
            body: object,
            contentType: "application/apply-patch+yaml", // JSON is YAML
        });
    }

    /** Whether the API server says that it is ready; false also when it does not answer. */
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
        {
            body,
            contentType = "application/json",
            timeoutSeconds = 5,
        }: { body?: unknown; contentType?: string; timeoutSeconds?: number },
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

/** The sentence in a Status object, or the text itself. */
function message(text: string): string {
    try {
        return (JSON.parse(text) as { message?: string }).message ?? text;
    } catch {
        return text.trim();
    }
}

/** The plural of the kinds used here is regular but for these. */
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
