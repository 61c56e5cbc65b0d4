import { Agent } from "node:https";
import { hostname } from "node:os";
import { type ApiCall, type ApiResponse, callApi } from "../cluster/in-cluster-api";
import { annotations, fieldManager } from "../cluster/labels";
import { type KubeObject, type ObjectApi, type ObjectReference, pathOf, resources } from "../cluster/resources";
import { addressesOf, hasEnded, type Pod, tcpPortsOf } from "../cluster/kubernetes-rules";
import { endpoint } from "./protocol";

type Calling = (path: string, call?: Pick<ApiCall, "method" | "body">) => Promise<ApiResponse>;

/** A connection per call would cost 2,000 TLS handshakes to unlabel 2,000 pods, and as many buffers at once. */
function over(maxSockets: number): Calling {
    const agent = new Agent({ keepAlive: true, maxSockets });
    return (path, call = {}) => callApi(path, { ...call, agent });
}

const calling = over(16);

/** Reads the lease, over connections of its own: several, since one that hangs must not keep it from being seen. */
export const get: (path: string) => Promise<ApiResponse> = over(8);

/** Small pages: the lists of a large namespace dominate the Job's memory. */
const itemsPerPage = 20;

/** The items of a list, page by page. Keep only what is needed of each. @throws Error that begins with `failure` */
export async function* listed<T>(path: string, failure: string, call: Calling = calling): AsyncGenerator<T> {
    const limited = `${path}${path.includes("?") ? "&" : "?"}limit=${itemsPerPage}`;
    let next: string | undefined;
    do {
        const page = next ? `${limited}&continue=${encodeURIComponent(next)}` : limited;
        const { status, body } = await call(page);
        if (status !== 200) throw new RefusedError(failure, status);
        const { metadata, items } = JSON.parse(body) as { metadata: { continue?: string }; items: T[] };
        yield* items;
        next = metadata.continue;
    } while (next);
}

/** A call that the API server has answered with an error. */
class RefusedError extends Error {
    constructor(
        what: string,
        readonly code: number,
    ) {
        super(`${what}: ${code}`);
    }
}

const named = ({ resource, name }: ObjectReference) => `${resource.kind} ${name}`;

/** @throws RefusedError unless the call succeeded, or there is no such object */
function objectOf({ status, body }: ApiResponse, failure: string): KubeObject | undefined {
    if (status === 404) return undefined;
    if (status >= 300) throw new RefusedError(failure, status);
    return JSON.parse(body) as KubeObject;
}

export function objectApiBy(call: Calling): ObjectApi {
    return {
        get: async (object) => objectOf(await call(pathOf(object)), `${named(object)} cannot be read`),
        list(resource, namespace, labelSelector) {
            const query = labelSelector === undefined ? "" : `?labelSelector=${encodeURIComponent(labelSelector)}`;
            const failure = `the ${resource.resource} cannot be listed`;
            return listed(`${pathOf({ resource, namespace })}${query}`, failure, call);
        },
        patch: async (object, body) =>
            objectOf(
                await call(`${pathOf(object)}?fieldManager=${fieldManager}`, { method: "PATCH", body }),
                `${named(object)} cannot be changed`,
            ),
        async create(resource, namespace, body) {
            const answer = await call(pathOf({ resource, namespace }), { method: "POST", body });
            return objectOf(answer, `a ${resource.kind} cannot be created`);
        },
        async delete(object, uid) {
            const body = { propagationPolicy: "Background", ...(uid !== undefined && { preconditions: { uid } }) };
            const answer = await call(pathOf(object), { method: "DELETE", body });
            return objectOf(answer, `${named(object)} cannot be deleted`) !== undefined;
        },
    };
}

/** The Job's calls to see what there is. */
export const objectApi = objectApiBy(calling);

/** How long an object has been there, by the API server's clock, in milliseconds. Undefined if it does not exist. */
export async function ageOf(object: ObjectReference): Promise<number | undefined> {
    const answer = await calling(pathOf(object));
    const found = objectOf(answer, `${named(object)} cannot be read`);
    return found && answer.sentAt - Date.parse(String(found.metadata!.creationTimestamp));
}

/** Sends a POST to a path. @returns what the API server answers, whatever that is */
export const post = (path: string, body: object): Promise<ApiResponse> => calling(path, { method: "POST", body });

/** Its calls to end attacks, over connections of their own: no look that hangs takes one. */
export const endingApi = objectApiBy(over(16));

/** Notes something on the pod that this program runs in, for others to read. @throws Error if it cannot */
export async function noteOnOwnPod(
    namespace: string,
    metadata: { labels?: Record<string, string>; annotations: Record<string, string> },
): Promise<void> {
    await objectApi.patch({ resource: resources.pod, namespace, name: hostname() }, { metadata });
}

/**
 * The endpoints of every TCP port that a pod says it has, or its annotation, at each of its addresses. Another pod may
 * have the addresses of one that has ended.
 */
export function endpointsOf(pod: Pod): string[] {
    const addresses = hasEnded(pod) ? [] : addressesOf(pod);
    const noted = (pod.metadata?.annotations?.[annotations.ports] ?? "").split(",").map(Number);
    const ports = new Set([...tcpPortsOf(pod), ...noted.filter((port) => port > 0 && port <= 65_535)]);
    return addresses.flatMap((address) => [...ports].map((port) => endpoint(address, port)));
}

/** Writes a line to the pod's log, beside its reports. */
export function log(message: unknown): undefined {
    process.stderr.write(`${message instanceof Error ? message.message : String(message)}\n`);
}
