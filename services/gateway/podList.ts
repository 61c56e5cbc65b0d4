import { readFileSync } from "node:fs";
import { request } from "node:https";
import * as z from "zod/mini";

/** An API server and who asks it. */
export interface ApiServer {
    host: string | undefined;
    port: string | undefined;
    /** Folder with the ServiceAccount's `token` and `namespace`, and the `ca.crt` that the server must be known to. */
    account: string;
}

/** The one that every pod is told of. */
const ownApiServer: ApiServer = {
    host: process.env.KUBERNETES_SERVICE_HOST,
    port: process.env.KUBERNETES_SERVICE_PORT,
    account: "/var/run/secrets/kubernetes.io/serviceaccount",
};

/** What is read of the API server's answer. */
const podsSchema = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });

/**
 * The names of the pods with a label in the namespace that this program runs in, as its ServiceAccount may list them. The
 * token is read each time, since the kubelet renews it.
 *
 * @param label its key, whatever the value
 * @param timeoutMs how long that may take in all: a gateway that is cut off itself must not hang on it
 * @throws Error where the API server cannot be asked, as is always so outside a cluster
 */
export async function podsLabelled(
    label: string,
    timeoutMs: number,
    { host, port, account }: ApiServer = ownApiServer,
): Promise<string[]> {
    const [token, ca, namespace] = ["token", "ca.crt", "namespace"].map((file) =>
        readFileSync(`${account}/${file}`, "utf8"),
    );
    const cancelled = new AbortController();
    const timer = setTimeout(() => cancelled.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    try {
        return await new Promise((resolve, reject) => {
            const call = request(
                {
                    host,
                    port,
                    path: `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(label)}`,
                    headers: { Authorization: `Bearer ${token}`, Accept: "application/json" },
                    ca,
                    agent: false,
                    signal: cancelled.signal,
                },
                async (response) => {
                    try {
                        const body = Buffer.concat(await response.toArray()).toString("utf8");
                        if (response.statusCode !== 200)
                            throw new Error(`the API server answered with status ${response.statusCode}`);
                        resolve(podsSchema.parse(JSON.parse(body)).items.map(({ metadata }) => metadata.name));
                    } catch (error) {
                        reject(error);
                    }
                },
            );
            call.on("error", reject);
            call.end();
        });
    } finally {
        clearTimeout(timer);
    }
}
