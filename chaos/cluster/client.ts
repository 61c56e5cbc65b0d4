import {
    AdmissionregistrationV1Api,
    type ApiConstructor,
    ApiException,
    type ApiType,
    AppsV1Api,
    AuthorizationV1Api,
    BatchV1Api,
    CoordinationV1Api,
    CoreV1Api,
    createConfiguration,
    CustomObjectsApi,
    DiscoveryV1Api,
    type HttpLibrary,
    IsomorphicFetchHttpLibrary,
    type KubeConfig,
    NetworkingV1Api,
    PatchStrategy,
    RbacAuthorizationV1Api,
    type RequestContext,
    ResponseContext,
    ServerConfiguration,
    setHeaderOptions,
    StorageV1Api,
    wrapHttpLibrary,
} from "@kubernetes/client-node";
import { Agent } from "node:https";
import { isDeepStrictEqual } from "node:util";
import { pause } from "../async";
import { parseJson } from "../json";
import { forgetCredentials } from "./exec-plugin";
import { KubeconfigError, kubeconfigFrom, loadKubeconfig, requireSupported } from "./kubeconfig";
import { onOneLine } from "../quoted";

/** The parts of the Kubernetes API that are used directly, not through resources of a stack. */
const apis = {
    admission: AdmissionregistrationV1Api,
    core: CoreV1Api,
    apps: AppsV1Api,
    authorization: AuthorizationV1Api,
    batch: BatchV1Api,
    coordination: CoordinationV1Api,
    custom: CustomObjectsApi,
    discovery: DiscoveryV1Api,
    networking: NetworkingV1Api,
    rbac: RbacAuthorizationV1Api,
    storage: StorageV1Api,
};

export type Cluster = { kubeconfig: KubeConfig } & { [A in keyof typeof apis]: InstanceType<(typeof apis)[A]> };

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
    if (kubeconfig.getContextObject(name) === null) throw new KubeconfigError(missingContext(kubeconfig, name));
    requireSupported(kubeconfig, name);
    kubeconfig.setCurrentContext(name);
    keepConnections(kubeconfig, timeoutMs);
    const configuration = createConfiguration({
        baseServer: new ServerConfiguration(kubeconfig.getCurrentCluster()!.server, {}),
        authMethods: { default: kubeconfig },
        httpApi: sendingAgain(kubeconfig),
    });
    const clients = Object.entries<ApiConstructor<ApiType>>(apis).map(([name, Api]) => [name, new Api(configuration)]);
    return { kubeconfig, ...Object.fromEntries(clients) } as Cluster;
}

function missingContext(kubeconfig: KubeConfig, context: string | undefined): string {
    const missing = context ? `context "${context}"` : "current context";
    const known = kubeconfig.getContexts().map(({ name }) => name);
    return (
        `the kubeconfig has no ${missing}; it has ${known.join(", ") || "none"}. Add it, or name another ` +
        "one where the experiment or the stack names its context, and update the stack"
    );
}

/**
 * Sends a request again if the API server has too much to do, and with new credentials, once, if it rejects those of an
 * exec plugin.
 */
function sendingAgain(kubeconfig: KubeConfig): HttpLibrary {
    const library = new IsomorphicFetchHttpLibrary();
    const sendOnce = (request: RequestContext) => library.send(request).toPromise();
    const send = async (request: RequestContext) => {
        const sent = Date.now();
        const response = await sendOnceAdmitted(request, sendOnce);
        if (response.httpStatusCode !== 401 || !forgetCredentials(sent)) return response;
        await kubeconfig.applySecurityAuthentication(request);
        return sendOnceAdmitted(request, sendOnce);
    };
    const note = (answer: object) => contexts.set(answer, kubeconfig.getCurrentContext());
    return wrapHttpLibrary({
        async send(request) {
            const response = await send(request).catch((error: Error) => {
                note(error);
                throw error;
            });
            note(response.headers);
            return response;
        },
    });
}

/** As client-go does it: https://pkg.go.dev/k8s.io/client-go/rest#Request.MaxRetries */
const maxRetries = 10;
const longestWaitMs = 5_000;

/**
 * Sends a request, and again after the time that the API server names in `Retry-After`: it has not begun what it
 * rejects so. Within the time of the call, in which its last answer counts.
 */
async function sendOnceAdmitted(
    request: RequestContext,
    send: (request: RequestContext) => Promise<ResponseContext>,
): Promise<ResponseContext> {
    const signal = request.getSignal();
    for (let retries = 0; ; retries++) {
        const response = await send(request);
        const waitMs = retryAfterMs(request, response);
        if (waitMs === undefined || retries === maxRetries) return response;
        // Once the signal is aborted, nothing more can be read. Until a body is read, its connection is not free.
        const read = await response.body.binary();
        await pause(waitMs, signal);
        if (signal?.aborted) return withBody(response, read);
    }
}

const withBody = ({ httpStatusCode, headers }: ResponseContext, body: Buffer): ResponseContext =>
    new ResponseContext(httpStatusCode, headers, {
        text: () => Promise.resolve(body.toString()),
        binary: () => Promise.resolve(body),
    });

/** How long to wait before a request is sent again. Undefined if it is not. */
function retryAfterMs(request: RequestContext, { httpStatusCode, headers }: ResponseContext): number | undefined {
    if (httpStatusCode !== 429 && httpStatusCode !== 503) return undefined;
    // A disruption budget refuses an eviction so, and behind a proxy an application may have answered.
    if (/\/(?:eviction|proxy(?:\/.*)?)$/.test(new URL(request.getUrl()).pathname)) return undefined;
    const after = headers["retry-after"] ?? "";
    return /^\d+$/.test(after) ? Math.min(Number(after) * 1_000, longestWaitMs) : undefined;
}

/** Contexts by the errors of connections, and by the headers of answers, which an ApiException has. */
const contexts = new WeakMap<object, string>();

/** The context in which a call failed, for commands. Undefined if that is not known. */
export function contextOf(error: unknown): string | undefined {
    if (typeof error !== "object" || error === null) return undefined;
    return contexts.get(error instanceof ApiException ? error.headers : error);
}

/** Firewalls and proxies on the way may forget a connection that was idle for longer. */
const idleMs = 2_000;

/**
 * Lets the API clients of a kubeconfig reuse connections, and limits the time of each call. The library opens a
 * connection per call: with client certificates a call takes 18 ms then, and 5 ms over a kept connection (medians of 20
 * calls to a local API server).
 */
function keepConnections(kubeconfig: KubeConfig, timeoutMs: number): void {
    const apply = kubeconfig.applySecurityAuthentication.bind(kubeconfig);
    let made: Agent | undefined;
    let kept: Agent | undefined;
    kubeconfig.applySecurityAuthentication = async (context) => {
        await apply(context);
        context.setSignal(AbortSignal.timeout(timeoutMs));
        const agent = context.getAgent() as Agent | undefined;
        // Subclasses lead through proxies.
        if (agent?.constructor !== Agent) return;
        // Credentials may have been renewed.
        if (!isDeepStrictEqual(agent.options, made?.options))
            kept = new Agent({ ...agent.options, keepAlive: true, timeout: idleMs });
        made = agent;
        context.setAgent(kept!);
    };
}

export const mergePatch = () => setHeaderOptions("Content-Type", PatchStrategy.MergePatch);

export const statusOf = (error: unknown): number | undefined =>
    error instanceof ApiException ? error.code : undefined;

/**
 * An error's message as it is; `problemOf` is for people. If the API server rejected a call, its message: the library's
 * message is the whole response.
 */
export function messageOf(error: unknown): string {
    if (error instanceof ApiException)
        return statusMessageOf(error.body) ?? `the API server answered with status ${error.code}`;
    // A connection that failed at several addresses has a code, and no message.
    if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
    if (error instanceof Error) return error.message;
    // A WebSocket that cannot be opened rejects with an event.
    const { error: cause } = (error ?? {}) as { error?: unknown };
    return cause instanceof Error ? messageOf(cause) : String(error);
}

/** An API server that passes an application's answer on puts all of it into its message. */
const maxMessageLength = 1_000;

/** `message` of a Status object, which the library leaves as text if it does not expect it. */
function statusMessageOf(body: unknown): string | undefined {
    const { message } = ((typeof body === "string" ? parseJson(body) : body) ?? {}) as { message?: unknown };
    return typeof message === "string" ? onOneLine(message, maxMessageLength) : undefined;
}

/**
 * When an answer was sent, by the API server's clock, in milliseconds since the epoch, to the second: what the cluster
 * notes of its objects is compared with that, since this machine's clock may differ. By this machine's clock if the
 * answer does not say it.
 */
export function sentAt({ headers }: { headers: Record<string, string> }): number {
    const at = Date.parse(headers.date ?? "");
    return Number.isNaN(at) ? Date.now() : at;
}

/** The result of a call. Undefined if it failed with one of some statuses. */
const unless = async <T>(call: Promise<T>, ...statuses: number[]): Promise<T | undefined> =>
    call.catch((error: unknown) => {
        if (statuses.includes(statusOf(error) ?? 0)) return undefined;
        throw error;
    });

export const ignoreNotFound = <T>(call: Promise<T>) => unless(call, 404);

/** The result of a call. Undefined if the account may not make it, or if there is no such thing. */
export const unlessForbidden = <T>(call: Promise<T>) => unless(call, 403, 404);
