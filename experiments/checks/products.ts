import { request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { gatewayAddress, gatewayService, productsUrl } from "../../shared/gateway";
import type { Cluster } from "../../shared/kubernetes";

/** How `/products` is asked: at the gateway's external address, or through the API server where there is none. */
export type Route = { kind: "address"; url: string } | { kind: "apiServer"; path: string };

/** One answer of `/products`, or the lack of one. Times are milliseconds; `at` since the epoch, when it was asked. */
export interface Answer {
    at: number;
    latencyMs: number;
    good: boolean;
    /** HTTP status; undefined where there was no answer. */
    status?: number;
    /** Why it is not good, in a sentence. */
    problem?: string;
}

/**
 * The way to the gateway. An address that nothing listens at (minikube without its tunnel, a node's address from a
 * laptop) is no way: then the API server passes the requests on.
 */
export async function chooseRoute(cluster: Cluster, namespace: string): Promise<Route> {
    const address = await gatewayAddress(cluster, namespace);
    if (address) {
        const direct: Route = { kind: "address", url: productsUrl(address) };
        const answer = await askProducts(cluster, direct, 2_000);
        if (answer.status !== undefined) return direct;
    }
    return { kind: "apiServer", path: `/api/v1/namespaces/${namespace}/services/${gatewayService}:80/proxy/products` };
}

export function describeRoute(route: Route): string {
    return route.kind === "address" ? route.url : "the API server, since the gateway has no address that answers";
}

/** Asks `/products` once, over a fresh connection: one that is kept open outlives a NetworkPolicy and would hide it. */
export async function askProducts(cluster: Cluster, route: Route, timeoutMs: number): Promise<Answer> {
    const at = Date.now();
    const begun = performance.now();
    try {
        const { status, body } = await get(cluster, route, timeoutMs);
        const problem = status === 200 ? shapeProblem(body) : `status ${status}: ${detail(body)}`;
        return { at, latencyMs: Math.round(performance.now() - begun), good: problem === undefined, status, problem };
    } catch (error) {
        const timedOut = (error as Error).name === "TimeoutError" || (error as Error).name === "AbortError";
        const problem = timedOut ? `no answer within ${timeoutMs} ms` : (error as Error).message;
        return { at, latencyMs: Math.round(performance.now() - begun), good: false, problem };
    }
}

async function get(cluster: Cluster, route: Route, timeoutMs: number): Promise<{ status: number; body: string }> {
    const options: RequestOptions = { agent: false, signal: AbortSignal.timeout(timeoutMs), headers: { accept: "application/json" } };
    if (route.kind === "address") return send(new URL(route.url), options);
    const url = new URL(cluster.kubeconfig.getCurrentCluster()!.server + route.path);
    await cluster.kubeconfig.applyToHTTPSOptions(options);
    // The kubeconfig brings an agent of its own, which keeps connections only to the API server.
    return send(url, options);
}

function send(url: URL, options: RequestOptions): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
        const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, options, (response) => {
            const chunks: Buffer[] = [];
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("end", () => resolve({ status: response.statusCode!, body: Buffer.concat(chunks).toString("utf8") }));
            response.on("error", reject);
        });
        request.on("error", reject);
        request.end();
    });
}

/** What is missing for a whole listing: all three lists, with products in each. */
function shapeProblem(body: string): string | undefined {
    const listing = parsed(body);
    if (listing === undefined) return "status 200, but the body is not JSON";
    for (const list of ["fashionResponse", "toysResponse", "hotDealsResponse"]) {
        const products = (listing[list] as { products?: unknown } | undefined)?.products;
        if (!Array.isArray(products) || products.length === 0) return `status 200, but ${list} lists no products`;
    }
    return undefined;
}

/** The sentence of a problem document (RFC 9457), or the beginning of whatever was sent instead. */
function detail(body: string): string {
    const problem = parsed(body);
    const sentence = problem?.detail ?? problem?.title ?? problem?.message ?? body;
    return String(sentence).replace(/\s+/g, " ").slice(0, 200);
}

function parsed(body: string): Record<string, unknown> | undefined {
    try {
        const value: unknown = JSON.parse(body);
        return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
    } catch {
        return undefined;
    }
}
