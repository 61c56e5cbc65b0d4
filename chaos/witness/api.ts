import type { IncomingMessage } from "node:http";
import { Agent } from "node:https";
import { hostname } from "node:os";
import { exec } from "../cluster/exec";
import { destinationInPod, openApi } from "../cluster/in-cluster-api";
import { annotations } from "../cluster/labels";
import type { JobContext } from "../kinds/attacks/job-part";
import { type ObjectApi, type ObjectReference, resources } from "../cluster/resources";
import { addressesOf, hasEnded, type Pod, tcpPortsOf } from "../values/kubernetes-rules";
import { sentAtOf } from "../cluster/request";
import { type ApiCall, ApiError, type ApiResponse, type Carrier, sentAt, verbsOver } from "../cluster/verbs";
import { parseJson } from "../values/json";
import { endpoint } from "../values/endpoint";
import { isReadOfMany, isReadOfOne, isReadWithRules, Sieve } from "../cluster/sieve";

/**
 * Whether the API server lets this program do anything. False if an earlier one has given up its rights. Undefined as
 * long as the API server has not said.
 */
export let hasRights: boolean | undefined;

type Opening = (path: string, call?: Omit<ApiCall, "signal">) => Promise<IncomingMessage>;

/** A connection per call would cost 2,000 TLS handshakes to unlabel 2,000 pods, and as many buffers at once. */
function over(maxSockets: number): Opening {
    const agent = new Agent({ keepAlive: true, maxSockets });
    return async (path, call = {}) => {
        const response = await openApi(path, { ...call, agent });
        // Only an account that may read an object is told that it does not exist.
        if ([200, 201, 404, 409].includes(response.statusCode!)) hasRights = true;
        else if (response.statusCode === 403) hasRights ??= false;
        return response;
    };
}

const opening = over(16);

/** @returns the API server's answer, with any status. Of an object, it has only the fields that `isReadOfOne` names */
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
            throw new ApiError(response.statusCode!, "", failure);
        }
        const sieve = new Sieve(isRead);
        for await (const text of response.setEncoding("utf8"))
            for (const item of sieve.push(text as string)) yield JSON.parse(item) as T;
        next = (JSON.parse(sieve.rest) as { metadata: { continue?: string } }).metadata.continue;
    } while (next);
}

/**
 * Whether the API server says that there is no such object. What stands in its place, such as a load balancer, may
 * answer with the same status.
 */
export const isMissing = ({ status, body }: Pick<ApiResponse, "status" | "body">): boolean =>
    status === 404 && (parseJson(body) as { reason?: string } | undefined)?.reason === "NotFound";

export function objectApiBy(open: Opening): ObjectApi {
    return verbsOver({
        ask: (path, call) => calling(open, path, call),
        items: (path, failure, withRules) =>
            itemsOf(path, failure, { open, isRead: withRules ? isReadWithRules : isReadOfMany }),
        isMissing,
        namesFailures: true,
    } satisfies Carrier);
}

/** The Job's calls to see what there is. */
export const objectApi = objectApiBy(opening);

/** How long an object has been there, by the API server's clock, in milliseconds. Undefined if it does not exist. */
export async function ageOf(object: ObjectReference): Promise<number | undefined> {
    const found = await objectApi.get(object);
    return found && sentAt(found) - Date.parse(found.metadata!.creationTimestamp!);
}

/** Sends a POST to a path. @returns the API server's answer, with any status */
export const post = (path: string, body: object): Promise<ApiResponse> =>
    calling(opening, path, { method: "POST", body });

/** Runs a command in a container: see `exec`. */
export const run: JobContext["exec"] = (container, command, onOutput, signal, onOpen) =>
    exec(container, command, destinationInPod(), onOutput, signal, onOpen);

/** The Job's calls to end attacks. They have their own connections, so calls that hang elsewhere take none of them. */
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
