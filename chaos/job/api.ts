import { Agent } from "node:https";
import { type ApiResponse, callApi } from "../cluster/in-cluster-api";
import { type Pod, tcpPortsOf } from "../targets/containers";
import { endpoint } from "./protocol";

/** A connection per call would cost 2,000 TLS handshakes to unlabel 2,000 pods, and as many buffers at once. */
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

/** Reads an object, or a list. */
export const get = (path: string): Promise<ApiResponse> => callApi(path, { agent });

/** @param body a JSON merge patch */
export const patch = (path: string, body: object): Promise<ApiResponse> =>
    callApi(path, { method: "PATCH", body, agent });

/** @param options such as `{ preconditions: { uid } }` */
export const remove = (path: string, options?: object): Promise<ApiResponse> =>
    callApi(path, { method: "DELETE", body: options, agent });

/** The body of a successful response, or of a 404. @throws Error for any other response */
export function bodyOf({ status, body }: ApiResponse, failure: string): string {
    if (status >= 300 && status !== 404) throw new Error(`${failure}: ${status}`);
    return body;
}

/** Small pages: the lists of a large namespace dominate the Job's memory. */
const itemsPerPage = 20;

/**
 * The items of a list, page by page. Keep only what is needed of each.
 *
 * @throws Error that begins with `failure`
 */
export async function* listed<T>(path: string, failure: string): AsyncGenerator<T> {
    const limited = `${path}${path.includes("?") ? "&" : "?"}limit=${itemsPerPage}`;
    let next: string | undefined;
    do {
        const page = next ? `${limited}&continue=${encodeURIComponent(next)}` : limited;
        const { status, body } = await get(page);
        if (status !== 200) throw new Error(`${failure}: ${status}`);
        const { metadata, items } = JSON.parse(body) as { metadata: { continue?: string }; items: T[] };
        yield* items;
        next = metadata.continue;
    } while (next);
}

/** The endpoints of every TCP port that a pod declares. */
export function endpointsOf({ spec, status }: Pod): string[] {
    const podIP = status?.podIP;
    if (podIP === undefined) return [];
    return (spec?.containers ?? []).flatMap(tcpPortsOf).map((port) => endpoint(podIP, port));
}

/** Writes a line to the pod's log, beside its reports. */
export function log(message: unknown): undefined {
    process.stderr.write(`${message instanceof Error ? message.message : String(message)}\n`);
}
