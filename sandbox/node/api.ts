import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { addresses } from "./addresses";
import { pki } from "./pki";

/** A Kubernetes object, as far as the sandbox reads it. */
export interface KubernetesObject {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown };
    readonly [field: string]: unknown;
}

interface CallOptions {
    /** An object to create or update (server-side apply). @default none */
    readonly apply?: KubernetesObject;
    /** @default `PATCH` with an object, else `GET` */
    readonly method?: "DELETE";
    readonly timeoutSeconds?: number;
}

/**
 * The sandbox's own calls to its API server, as administrator. Plain HTTPS: a client library would take longer to load
 * than an `up` with nothing to do.
 *
 * @returns the parsed answer, or its text if it is not JSON.
 * @throws without an answer within `timeoutSeconds` (default 5), and on a status other than 2xx.
 */
export async function callApi<T>(path: string, { apply, method, timeoutSeconds = 5 }: CallOptions = {}): Promise<T> {
    const call = request({
        ca: readFileSync(pki.clusterAuthority),
        cert: readFileSync(pki.certificate("admin")),
        key: readFileSync(pki.key("admin")),
        host: addresses.node,
        port: addresses.apiPort,
        method: method ?? (apply ? "PATCH" : "GET"),
        path,
        headers: apply && { "content-type": "application/apply-patch+yaml" }, // JSON is YAML
        signal: AbortSignal.timeout(timeoutSeconds * 1000),
    });
    call.end(apply && JSON.stringify(apply));
    const answered = once(call, "response") as Promise<[IncomingMessage]>;
    call.on("error", () => undefined); // What it ends fails: the answer, or the reading of it.
    const [response] = await answered;
    const { statusCode = 0, headers } = response;
    const said = (await text(response)).trim();
    const answer = headers["content-type"]?.startsWith("application/json") ? (JSON.parse(said) as unknown) : said;
    if (statusCode >= 200 && statusCode <= 299) return answer as T;
    // A refusal is a Status object.
    const { message = answer } = answer as { message?: string };
    throw new Error(`${call.method} ${path}: status ${statusCode}: ${String(message)}`);
}

const isNotFound = (error: unknown) => String(error).includes("status 404");

const fieldManager = "sandbox";

/** @returns the object as it is then. */
export function applyObject(object: KubernetesObject): Promise<KubernetesObject> {
    return callApi(`${objectPath(object)}?fieldManager=${fieldManager}&force=true`, { apply: object });
}

/**
 * Applies an object: again if it is being deleted, or its kind, which was defined a moment ago, is not served yet.
 *
 * @throws if that takes longer than 60 s
 */
export async function applyForGood(object: KubernetesObject): Promise<void> {
    for (const until = Date.now() + 60_000; ; await sleep(100)) {
        const applied = await applyObject(object).catch((error: unknown) => {
            if (Date.now() > until || !isNotFound(error)) throw error;
            return undefined;
        });
        if (applied && !applied.metadata.deletionTimestamp) return;
        if (Date.now() > until) throw new Error(`${objectPath(object)} is still being deleted after 60 s`);
    }
}

/**
 * Deletes the definitions that the sandbox made of some API groups' kinds, with all their objects.
 *
 * @throws Error if that takes longer than 60 s
 */
export async function deleteDefinitions(apiGroups: readonly string[]): Promise<void> {
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const isOurs = ({ metadata }: KubernetesObject) =>
        (metadata.managedFields as { manager: string }[]).some(({ manager }) => manager === fieldManager);
    const unwanted = async () => {
        const { items } = await callApi<{ items: (KubernetesObject & { spec: { group: string } })[] }>(path);
        return items.filter((each) => apiGroups.includes(each.spec.group) && isOurs(each));
    };
    const until = Date.now() + 60_000;
    // Most starts have none, and ask once.
    for (let left = await unwanted(); left.length > 0; left = await unwanted()) {
        if (Date.now() > until)
            throw new Error(`kinds of ${apiGroups.join(" and ")} are still being deleted after 60 s`);
        await Promise.all(left.map(({ metadata }) => deleteAt(`${path}/${metadata.name}`)));
        await sleep(100);
    }
}

/** Whether the API server is ready; false also without an answer. */
export async function apiIsReady(): Promise<boolean> {
    return callApi("/readyz", { timeoutSeconds: 2 }).then(
        (answer) => answer === "ok",
        () => false,
    );
}

/** Deletes what a path names, if it is there. */
export async function deleteAt(path: string): Promise<void> {
    await callApi(path, { method: "DELETE" }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
    });
}

/** The REST path of an object, for example `/apis/apps/v1/namespaces/kube-system/deployments/coredns`. */
export function objectPath({ apiVersion, kind, metadata }: KubernetesObject): string {
    const plural = kind.toLowerCase() + (kind.endsWith("s") ? "es" : "s");
    const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const namespace = metadata.namespace ? `/namespaces/${metadata.namespace}` : "";
    return `${group}${namespace}/${plural}/${metadata.name}`;
}
