import type { IncomingMessage } from "node:http";
import { Agent } from "node:https";
import { hostname } from "node:os";
import { type ApiCall, type ApiResponse, openApi, sentAtOf } from "../cluster/in-cluster-api";
import { annotations, fieldManager } from "../cluster/labels";
import { type KubeObject, type ObjectApi, type ObjectReference, pathOf, resources } from "../cluster/resources";
import { addressesOf, hasEnded, type Pod, tcpPortsOf } from "../cluster/kubernetes-rules";
import { parseJson } from "../json";
import { endpoint } from "./protocol";
import { isReadOfMany, isReadOfOne, isReadWithRules, Sieve } from "./sieve";

/**
 * Whether the API server lets this program do anything. Not if an earlier one has given up its rights. Undefined as
 * long as it has not said.
 */
export let hasRights: boolean | undefined;

type Opening = (path: string, call?: Pick<ApiCall, "method" | "body">) => Promise<IncomingMessage>;

/** A connection per call would cost 2,000 TLS handshakes to unlabel 2,000 pods, and as many buffers at once. */
function over(maxSockets: number): Opening {
    const agent = new Agent({ keepAlive: true, maxSockets });
    return async (path, call = {}) => {
        const response = await openApi(path, { ...call, agent });
        // What does not exist, too, is answered only to who may read it.
        if ([200, 201, 404, 409].includes(response.statusCode!)) hasRights = true;
        else if (response.statusCode === 403) hasRights ??= false;
        return response;
    };
}

const opening = over(16);

/** @returns what the API server answers, whatever that is, of an object what is read of it */
async function calling(open: Opening, ...call: Parameters<Opening>): Promise<ApiResponse> {
    const response = await open(...call);
    const sieve = new Sieve(isReadOfOne);
    for await (const text of response.setEncoding("utf8")) sieve.push(text as string);
    return { status: response.statusCode!, body: sieve.rest, sentAt: sentAtOf(response) };
}

const ofLease = over(8);

/** Reads the lease, over connections of its own: several, since one that hangs must not keep it from being seen. */
export const get = (path: string): Promise<ApiResponse> => calling(ofLease, path);

/** Small pages: the API server has each of them in its memory. */
const itemsPerPage = 20;

/**
 * The items of a list, one by one as they come, with what is read of each. Keep only what is needed of it.
 *
 * @param options.isRead which fields are. @default `isReadOfMany`
 * @throws Error that begins with `failure`
 */
export async function* itemsOf<T>(
    path: string,
    failure: string,
    { open = opening, isRead = isReadOfMany } = {},
): AsyncGenerator<T> {
    const limited = `${path}${path.includes("?") ? "&" : "?"}limit=${itemsPerPage}`;
    let next: string | undefined;
    do {
        const response = await open(next ? `${limited}&continue=${encodeURIComponent(next)}` : limited);
        if (response.statusCode !== 200) {
            response.resume();
            throw new RefusedError(failure, response.statusCode!);
        }
        const sieve = new Sieve(isRead);
        for await (const text of response.setEncoding("utf8"))
            for (const item of sieve.push(text as string)) yield JSON.parse(item) as T;
        next = (JSON.parse(sieve.rest) as { metadata: { continue?: string } }).metadata.continue;
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

/**
 * @returns undefined if the API server says that there is no such object. What stands in its place, such as a load
 *   balancer, may answer with the same status
 * @throws RefusedError unless the call succeeded
 */
function objectOf({ status, body }: ApiResponse, failure: string): KubeObject | undefined {
    if (isMissing({ status, body })) return undefined;
    if (status >= 300) throw new RefusedError(failure, status);
    return JSON.parse(body) as KubeObject;
}

/** Whether the API server says that there is no such object. */
export const isMissing = ({ status, body }: Pick<ApiResponse, "status" | "body">): boolean =>
    status === 404 && (parseJson(body) as { reason?: string } | undefined)?.reason === "NotFound";

export function objectApiBy(open: Opening): ObjectApi {
    const call = (...of: Parameters<Opening>) => calling(open, ...of);
    return {
        get: async (object) => objectOf(await call(pathOf(object)), `${named(object)} cannot be read`),
        list(resource, namespace, labelSelector, withRules = false) {
            const query = labelSelector === undefined ? "" : `?labelSelector=${encodeURIComponent(labelSelector)}`;
            const failure = `the ${resource.resource} cannot be listed`;
            return itemsOf(`${pathOf({ resource, namespace })}${query}`, failure, {
                open,
                isRead: withRules ? isReadWithRules : isReadOfMany,
            });
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
export const objectApi = objectApiBy(opening);

/** How long an object has been there, by the API server's clock, in milliseconds. Undefined if it does not exist. */
export async function ageOf(object: ObjectReference): Promise<number | undefined> {
    const answer = await calling(opening, pathOf(object));
    const found = objectOf(answer, `${named(object)} cannot be read`);
    return found && answer.sentAt - Date.parse(String(found.metadata!.creationTimestamp));
}

/** Sends a POST to a path. @returns what the API server answers, whatever that is */
export const post = (path: string, body: object): Promise<ApiResponse> =>
    calling(opening, path, { method: "POST", body });

/** Its calls to end attacks, over connections of their own: no look that hangs takes one. */
export const endingApi = objectApiBy(over(16));

/** A pod of an Indexed Job has another host name. */
const ownPod = process.env.POD_NAME ?? hostname();

/** Notes something on the pod that this program runs in, for others to read. @throws Error if it cannot */
export async function noteOnOwnPod(
    namespace: string,
    metadata: { labels?: Record<string, string>; annotations: Record<string, string> },
): Promise<void> {
    await objectApi.patch({ resource: resources.pod, namespace, name: ownPod }, { metadata });
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
