import { readFileSync } from "node:fs";
import { request } from "node:https";

const account = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * Asks the API server as this pod's own account; the token is read each time, since the kubelet renews it.
 *
 * @param body of a `PATCH`, a JSON merge patch; of a `DELETE`, its options
 */
export function api(
    method: "GET" | "PATCH" | "DELETE",
    path: string,
    body?: object,
): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
        const call = request(
            {
                host: process.env.KUBERNETES_SERVICE_HOST,
                port: process.env.KUBERNETES_SERVICE_PORT,
                method,
                path,
                agent: false,
                ca: readFileSync(`${account}/ca.crt`),
                timeout: 5_000,
                headers: {
                    authorization: `Bearer ${readFileSync(`${account}/token`, "utf8")}`,
                    "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
                },
            },
            (response) => {
                let text = "";
                response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
                response.on("error", reject);
                response.on("end", () => resolve({ status: response.statusCode!, body: text }));
            },
        );
        call.on("timeout", () => call.destroy(new Error("the API server did not answer within 5 s")));
        call.on("error", reject);
        call.end(body && JSON.stringify(body));
    });
}

/** The body of an answer that is good, or that says that there is no such thing. @throws Error of any other */
export function expect({ status, body }: { status: number; body: string }, failure: string): string {
    if (status >= 300 && status !== 404) throw new Error(`${failure}: ${status}`);
    return body;
}

/** To the pod's log, beside its reports. */
export function say(message: unknown): undefined {
    process.stderr.write(`${message instanceof Error ? message.message : String(message)}\n`);
}
