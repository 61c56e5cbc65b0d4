import type { Agent, IncomingMessage } from "node:http";
import { pause } from "../values/async";
import { type Container, exec } from "./exec";
import { forgetCredentials } from "./exec-plugin";
import { type Kubeconfig, KubeconfigError, kubeconfigFrom, loadKubeconfig, requireSupported } from "./kubeconfig";
import { fieldManager } from "./labels";
import { connectionsTo, destinationOf } from "./logins";
import { answerOf, type Destination, eachLine, send, type SentCall, wasOnKept } from "./request";
import { type ObjectApi, pathOf, type Place, type Resource, resources, type Selection } from "./resources";
import type { ObjectOf, V1Status } from "../values/kubernetes-types";
import { ApiError, type ApiResponse, listPath, objectOf, sent, sentAt, textOf, verbsOver, withQuery } from "./verbs";

export { ApiError, sentAt } from "./verbs";

/** What is read of a pod's log. */
interface Excerpt {
    /** @default the only one */
    container?: string;
    sinceSeconds?: number;
    tailLines?: number;
}

/** The calls to the API server of a kubeconfig's context. */
export interface Cluster extends ObjectApi {
    kubeconfig: Kubeconfig;
    /** Reads as `get` does. @throws ApiError (404) if there is no such object */
    read<R extends Resource>(object: Place<R> & { name: string }): Promise<ObjectOf<R["kind"]>>;
    /** Lists as `list` does, and returns once all are there. */
    all<R extends Resource>(resource: R, selection?: Selection): Promise<ObjectOf<R["kind"]>[]>;
    /** Puts an object in the place of another one, unless that is not of its `resourceVersion` any more (409). */
    replace<R extends Resource>(object: Place<R> & { name: string }, body: object): Promise<ObjectOf<R["kind"]>>;
    log(pod: { namespace: string; name: string }, excerpt?: Excerpt): Promise<string>;
    /** What the API server answers to a request, or a pod through it, with any status. */
    ask(path: string, call?: SentCall): Promise<ApiResponse>;
    /**
     * Lists objects, and tells each change from then on, until the API server ends that, as it does now and then.
     *
     * @param onEvent `type` is `ADDED`, `MODIFIED` or `DELETED`, or another one with another object
     */
    watch<R extends Resource>(
        resource: R,
        selection: Selection,
        onList: (objects: readonly ObjectOf<R["kind"]>[]) => void,
        onEvent: (event: { type: string; object: ObjectOf<R["kind"]> }) => void,
        signal: AbortSignal,
    ): Promise<void>;
    /** Runs a command in a container. @throws ApiError */
    exec(
        container: Container,
        command: readonly string[],
        onOutput: (printed: Buffer, isError: boolean) => void,
        signal: AbortSignal,
    ): Promise<V1Status>;
}

/** Time limit of a call. After this machine slept, a dead connection would otherwise block a call for many minutes. */
const callTimeoutMs = 30_000;

export interface ClusterAccess {
    /** Text of a kubeconfig, a secret. @default this machine's, as kubectl loads it */
    kubeconfig?: string;
    /** One of its contexts. @default its current one */
    context?: string;
}

/** @throws KubeconfigError if there is no such context, it has what is not supported, or no kubeconfig can be read */
export function connect({ kubeconfig: text, context }: ClusterAccess, timeoutMs = callTimeoutMs): Cluster {
    const kubeconfig = text === undefined ? loadKubeconfig() : kubeconfigFrom(text);
    const name = context ?? kubeconfig.getCurrentContext();
    if (kubeconfig.getContextObject(name) === undefined) throw new KubeconfigError(missingContext(kubeconfig, name));
    requireSupported(kubeconfig, name);
    kubeconfig.setCurrentContext(name);
    return clusterOf(kubeconfig, timeoutMs);
}

function missingContext(kubeconfig: Kubeconfig, context: string): string {
    const missing = context ? `context "${context}"` : "current context";
    const known = kubeconfig.getContexts().map(({ name }) => name);
    return (
        `the kubeconfig has no ${missing}; it has ${known.join(", ") || "none"}. Add it, or name another ` +
        "one where the experiment or the stack names its context, and update the stack"
    );
}

/** Firewalls and proxies on the way may forget a connection that was idle for longer. */
const idleMs = 2_000;

/** Time without a byte after which the other end of a watch is asked whether it is still there. */
const probeAfterMs = 30_000;

/** The calls over the current context of a kubeconfig. */
export const clusterOf = (kubeconfig: Kubeconfig, timeoutMs = callTimeoutMs): Cluster =>
    callsOver(kubeconfig, askerOf(kubeconfig, timeoutMs));

/** @param ask sends a request, and gives what the API server answers, with any status */
export function callsOver(kubeconfig: Kubeconfig, ask: Cluster["ask"]): Cluster {
    const list = async (resource: Resource, selection: Selection) => {
        const found = objectOf(await ask(listPath(resource, selection)));
        const { items, metadata } = found as { items: object[] | null; metadata?: { resourceVersion?: string } };
        return { items: sent(items ?? [], sentAt(found)), version: metadata?.resourceVersion };
    };
    return {
        ...verbsOver({
            ask,
            async *items(path) {
                yield* (objectOf(await ask(path)) as { items: object[] | null }).items ?? [];
            },
        }),
        kubeconfig,
        ask,
        read: async (object) => objectOf(await ask(pathOf(object))) as never,
        all: async (resource, selection = {}) => (await list(resource, selection)).items as never,
        replace: async (object, body) => objectOf(await ask(pathOf(object), { method: "PUT", body })) as never,
        async log({ namespace, name }, excerpt) {
            const path = pathOf({ resource: resources.pod, namespace, name, part: "log" });
            return textOf(await ask(withQuery(path, { ...excerpt }), { accept: "*/*" }));
        },
        async watch(resource, selection, onList, onEvent, signal) {
            const { items, version } = await list(resource, selection);
            onList(items as never);
            const path = listPath(resource, selection, { watch: true, resourceVersion: version });
            const response = await send(path, { signal }, await destinationOf(kubeconfig));
            if (response.statusCode !== 200) throw new ApiError(response.resume().statusCode!);
            // A connection that is closed silently must not be waited for without end.
            response.socket.setKeepAlive(true, probeAfterMs);
            await eachLine(response, (line) => onEvent(JSON.parse(line) as never));
        },
        async exec(container, command, onOutput, signal) {
            let askedAt = Date.now();
            try {
                const to = await destinationOf(kubeconfig);
                askedAt = Date.now();
                return await exec(container, command, to, onOutput, signal);
            } catch (error) {
                if (statusOf(error) === 401) forgetCredentials(askedAt);
                throw Object.assign(error as Error, { context: kubeconfig.getCurrentContext() });
            }
        },
    };
}

/** As client-go does it: https://pkg.go.dev/k8s.io/client-go/rest#Request.MaxRetries */
const maxRetries = 10;
const longestWaitMs = 5_000;

const maxRedirects = 5;

/**
 * Asks the API server, and again after the time that it names in `Retry-After`, if it has too much to do: it has not
 * begun what it rejects so. Within the time of the call, in which its last answer counts; that begins when there are
 * credentials. And with new credentials, once, if it rejects those of an exec plugin.
 */
function askerOf(kubeconfig: Kubeconfig, timeoutMs: number) {
    let agent: Agent | undefined;
    // A call with client certificates takes 18 ms over a new connection, and 5 ms over a kept one (medians of 20 calls
    // to a local API server).
    const kept = () => (agent ??= connectionsTo(kubeconfig, { keepAlive: true, timeout: idleMs }));
    const askOnce = async (path: string, call: SentCall & { signal: AbortSignal }, to: Destination) => {
        try {
            const response = await sendAnyhow(path, call, to);
            const answer = await answerOf(response, call.signal);
            return { answer, waitMs: retryAfterMs(path, answer.status, response.headers["retry-after"]) };
        } catch (error) {
            throw call.signal.aborted ? error : new UnansweredError(to.server + path, error as Error);
        }
    };
    return async (path: string, own: SentCall = {}): Promise<ApiResponse> => {
        const context = kubeconfig.getCurrentContext();
        const headers = { "user-agent": fieldManager, "accept-encoding": "gzip", ...own.headers };
        let signal: AbortSignal | undefined;
        try {
            for (let [retries, isRenewed] = [0, false]; ;) {
                const to = await destinationOf(kubeconfig, { agent: kept() });
                const askedAt = Date.now();
                signal ??= AbortSignal.timeout(timeoutMs);
                const { answer, waitMs } = await askOnce(path, { ...own, signal, headers }, to);
                if (answer.status === 401 && !isRenewed && forgetCredentials(askedAt)) {
                    isRenewed = true;
                    signal = undefined;
                } else if (waitMs === undefined || retries++ === maxRetries) return { ...answer, context };
                else await pause(waitMs, signal);
                if (signal?.aborted) return { ...answer, context };
            }
        } catch (error) {
            throw Object.assign(error as Error, { context });
        }
    };
}

/**
 * Sends a request; again if it only reads, and the server had closed the kept connection; and where the server leads on
 * the same host. What an application answers through the API server is its own.
 */
async function sendAnyhow(path: string, call: SentCall, to: Destination): Promise<IncomingMessage> {
    const isRead = call.method === undefined || call.method === "GET";
    let at = path;
    for (let redirects = 0; ; redirects++) {
        const again = (error: unknown) => {
            if (!isRead || !wasOnKept(error) || call.signal?.aborted) throw error;
            return send(at, call, to);
        };
        const response = await send(at, call, to).catch(again);
        const { statusCode = 0, headers } = response;
        const isLed = [301, 302, 307, 308].includes(statusCode) && headers.location !== undefined && isRead;
        if (!isLed || isProxied.test(path) || redirects === maxRedirects) return response;
        const next = new URL(headers.location!, to.server + at);
        const { origin, pathname } = new URL(to.server);
        const own = pathname === "/" ? "" : pathname;
        if (next.origin !== origin || !next.pathname.startsWith(own)) return response;
        response.resume();
        at = next.pathname.slice(own.length) + next.search;
    }
}

/** What the API server only passes on. */
const isProxied = /^[^?]*\/proxy(?:\/[^?]*)?(?:\?|$)/;

/** How long to wait before a request is sent again. Undefined if it is not. */
function retryAfterMs(path: string, status: number, after = ""): number | undefined {
    if (status !== 429 && status !== 503) return undefined;
    // A disruption budget refuses an eviction so, and behind a proxy an application may have answered.
    if (isProxied.test(path) || /\/eviction(?:\?|$)/.test(path)) return undefined;
    return /^\d+$/.test(after) ? Math.min(Number(after) * 1_000, longestWaitMs) : undefined;
}

/** No answer came: the connection failed. */
export class UnansweredError extends Error {
    override readonly name = "UnansweredError";
    readonly code?: string;

    constructor(url: string, cause: Error) {
        super(`request to ${url} failed, reason: ${messageOf(cause)}`, { cause });
        this.code = (cause as NodeJS.ErrnoException).code;
    }
}

/** Whether a call took longer than it may. */
export const isTimeout = (error: unknown): boolean =>
    ["AbortError", "TimeoutError"].includes((error as Error | undefined)?.name ?? "");

/** The context in which a call failed, for commands. Undefined if that is not known. */
export const contextOf = (error: unknown): string | undefined =>
    (error as { context?: string } | null | undefined)?.context;

export const statusOf = (error: unknown): number | undefined => (error instanceof ApiError ? error.code : undefined);

/** An error's message as it is; `problemOf` is for people. */
export function messageOf(error: unknown): string {
    // A connection that failed at several addresses has a code, and no message.
    if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
    return error instanceof Error ? error.message : String(error);
}

/** What a call gives; something else if the API server answers with one of some statuses. */
const unless =
    <E = undefined>(statuses: readonly number[], otherwise?: E) =>
    <T>(call: Promise<T>): Promise<T | E> =>
        call.catch((error: unknown) => {
            if (statuses.includes(statusOf(error) ?? 0)) return otherwise as E;
            throw error;
        });

/** The result of a call. Undefined if there is no such thing. */
export const ignoreNotFound = unless([404]);

/** The result of a call. Undefined if the account may not make it, or if there is no such thing. */
export const unlessForbidden = unless([403, 404]);

/** The result of a list. Nothing if the account may not read it: such a list exists, so 404 is an error. */
export const unlessUnlistable = unless([403]);

/** What a `get` gives. An object that the account may not read counts as there, and is empty. */
export const unlessUnreadable = unless<object>([403], {});
