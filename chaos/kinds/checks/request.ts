import {
    type IncomingMessage,
    maxHeaderSize,
    type OutgoingHttpHeaders,
    request as httpRequest,
    type RequestOptions,
} from "node:http";
import { request as httpsRequest } from "node:https";
import { type Cluster, messageOf } from "../../cluster/client";
import { forgetCredentials } from "../../cluster/exec-plugin";
import { fieldManager } from "../../cluster/labels";
import { type AddressOptions, addressTimeoutMs, destinationOf } from "../../cluster/logins";
import { forbidden, withoutPeriod } from "../../cluster/problem";
import { UnseenError } from "./answer";
import { knowsNoPod, proxyRefusal } from "./api-server";
import { bodyOf, type Reading, whyUndecoded } from "./body";
import { keysOf } from "./path";
import { notPassedOn } from "./proxy-limits";
import { isOfThisMachine, requestTarget, withFields, withQuery, withUuids } from "./request-parts";
import type { Route } from "./service";
import { quoted } from "../../values/quoted";

export interface Request {
    path: string;
    method?: string;
    /** `{uuid}` in a value is replaced by a new UUID. */
    headers?: Record<string, string>;
    body?: Record<string, unknown>;
    /** In milliseconds. The caller's signal ends the request. */
    timeoutMs: number;
    /** How much of the body is read. Called with the status when the head has come. @default the whole */
    reads?: (status: number) => Reading;
}

export interface Response {
    status: number;
    /** What was read of it, decoded. Empty if it is `undecoded`. */
    body: string;
    /** Why the body cannot be decoded: completes "the body …". Absent if it can be. */
    undecoded?: string;
}

export interface Access {
    /** Certificates in PEM. @default the CAs that Node.js trusts */
    ca?: string;
    /** Host name that the certificate must be valid for. @default the host that is asked */
    serverName?: string;
    /** @default none */
    headers?: Record<string, string>;
    /** Parameters that are added to the query. @default none */
    query?: Record<string, string>;
    /** Fields that are added to the body, by paths; see `keysOf`. @default none */
    body?: Record<string, string>;
    /** Accepts any certificate, to find out only whether there is an answer. @default false */
    anyCertificate?: boolean;
}

/**
 * Sends one request, over a fresh connection: an open one survives a new NetworkPolicy, and would hide it.
 * @throws UnseenError if there is no answer for a reason that says nothing about the Service
 */
export async function send(
    request: Request,
    cluster: Cluster,
    route: Route,
    signal: AbortSignal,
    access: Access = {},
): Promise<Response> {
    const path = withQuery(request.path, access.query);
    const fields = Object.entries(access.body ?? {}).map(([way, value]) => [keysOf(way), value] as const);
    const content = withFields(request.body, fields);
    const body = content && Buffer.from(JSON.stringify(content));
    const options: RequestOptions & AddressOptions = {
        agent: false,
        method: request.method,
        signal,
        autoSelectFamilyAttemptTimeout: addressTimeoutMs(request.timeoutMs),
        headers: {
            // A server that knows only another type may answer 406 to a client that does not accept it.
            accept: "application/json, */*;q=0.8",
            ...(body && { "content-type": "application/json", "content-length": body.length }),
            ...withUuids(request.headers ?? {}),
            ...access.headers,
        },
    };
    const { reads } = request;
    if (route.kind === "apiServer") return sendThroughApiServer(path, cluster, route, options, access, { body, reads });
    const url = new URL(route.url + path);
    const { ca, serverName: servername, anyCertificate } = access;
    const tls = url.protocol === "https:" && { ca, servername, rejectUnauthorized: anyCertificate !== true };
    return exchange(url, { ...options, ...tls }, (error) => unreached(error, url.origin), { body, reads });
}

async function sendThroughApiServer(
    path: string,
    cluster: Cluster,
    route: Extract<Route, { kind: "apiServer" }>,
    options: RequestOptions,
    { ca, serverName }: Access,
    { body, reads = () => "whole" }: Exchanged,
): Promise<Response> {
    const remedy =
        "the Service has no external address that answers this machine. Give it one (type LoadBalancer or NodePort), " +
        "or set `url`";
    const target = requestTarget(new URL(`http://service${path}`));
    const lost = notPassedOn(target, options.headers as Record<string, unknown>, options.method);
    if (lost.length > 0)
        throw new UnseenError(`the API server's proxy does not pass on ${lost.join(" and ")}, and ${remedy}`);
    if (ca !== undefined || serverName !== undefined)
        throw new UnseenError(
            `the API server's proxy does not verify the Service's certificate, and ${remedy}, or leave out the CA`,
        );
    // The body shows what the API server itself says.
    const readsRefusal = (status: number) =>
        reads(status) === "nothing" && status >= 400 ? "beginning" : reads(status);
    const exchanged = { body, reads: readsRefusal };
    const response = await askApiServer(cluster, route.path + path, options, exchanged);
    if (route.byHand && knowsNoPod(response.body))
        throw new UnseenError(
            "the Service has no selector, and the API server's proxy passes requests on only to pods that its " +
                `Endpoints object names, not to those of its EndpointSlices; and ${remedy}`,
        );
    const refusal = proxyRefusal(response.body);
    if (refusal === undefined) return response;
    const told = response.status === 403 ? forbidden(refusal) : quoted(refusal);
    throw new UnseenError(`the API server answered with status ${response.status}: ${told}`);
}

/** @throws UnseenError if the API server does not answer */
export async function askApiServer(
    cluster: Cluster,
    path: string,
    options: RequestOptions,
    exchanged: Exchanged = {},
): Promise<Response> {
    const failed = (error: Error) => new UnseenError(`the API server could not be asked: ${messageOf(error)}`);
    const { autoSelectFamilyAttemptTimeout: attemptTimeoutMs } = options as AddressOptions;
    // The kubeconfig's own agent may lead through a proxy.
    const to = await destinationOf(cluster.kubeconfig, { attemptTimeoutMs }).catch((error: Error) =>
        Promise.reject(failed(error)),
    );
    const asked = Date.now();
    const headers = { ...options.headers, ...to.options.headers } as OutgoingHttpHeaders;
    const response = await exchange(
        new URL(to.server + path),
        { ...options, ...to.options, headers },
        failed,
        exchanged,
    );
    // An application behind the API server may answer 401, too.
    if (response.status === 401 && proxyRefusal(response.body) !== undefined) forgetCredentials(asked);
    return response;
}

/** The codes of errors which say that a server's certificate is not accepted. */
export const ofCertificate = /^(?:CERT_|DEPTH_ZERO_|ERR_TLS_CERT_|SELF_SIGNED_|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF))/;

/** Why a connection failed, for the person who wrote the check. */
export function unreached(error: NodeJS.ErrnoException, origin: string): Error {
    if (isOfThisMachine(error))
        return new UnseenError(
            `this machine cannot reach ${origin}: ${messageOf(error)}. Check its network and the URL`,
        );
    if (!ofCertificate.test(error.code ?? "")) return error;
    // The text quotes names from the certificate.
    const problem = quoted(withoutPeriod(messageOf(error)), 300);
    return new Error(
        `the certificate of ${origin} is not valid: ${problem}. Renew it, or set \`ca\` or \`caFrom\` to the CA ` +
            "that signed it, and `serverName` to a name in it",
    );
}

/**
 * Longer heads of answers are not read, in bytes. Node.js alone reads 16 KiB; browsers and curl read more
 * (https://github.com/curl/curl/pull/11582), such as an answer with many cookies or a long Content-Security-Policy.
 */
const maxHeaderBytes = Math.max(maxHeaderSize, 128 * 1_024);

/** Even through the API server's proxy, it is the application that has sent the headers. */
const tooLongHead = () =>
    new Error(
        `the headers of the answer are longer than ${Math.floor(maxHeaderBytes / 1_024)} KiB; to read more, set ` +
            "NODE_OPTIONS=--max-http-header-size=BYTES",
    );

interface Exchanged {
    body?: Buffer;
    reads?: Request["reads"];
}

/** @param failed the error to report if there is no response at all */
async function exchange(
    url: URL,
    options: RequestOptions,
    failed: (error: Error) => Error,
    { body, reads = () => "whole" }: Exchanged,
): Promise<Response> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const request = url.protocol === "https:" ? httpsRequest : httpRequest;
        const headers = { "user-agent": fieldManager, ...(options.headers as OutgoingHttpHeaders) };
        const path = requestTarget(url);
        const sent = request(url, { ...options, headers, path, maxHeaderSize: maxHeaderBytes }, resolve);
        // Node.js has made the method upper case.
        sent.method = options.method ?? sent.method;
        // After the answer 101, Node.js leaves the connection to the listener.
        sent.on("upgrade", (head, socket) => {
            socket.destroy();
            resolve(head);
        });
        sent.on("error", (error: NodeJS.ErrnoException) =>
            reject(error.code === "HPE_HEADER_OVERFLOW" ? tooLongHead() : failed(error)),
        );
        sent.on("close", () => reject(failed(new Error("the connection was closed without an answer"))));
        sent.end(body);
    });
    const status = response.statusCode!;
    const reading = reads(status);
    const undecoded = whyUndecoded(response.headers["content-encoding"]);
    if (undecoded === undefined) return { status, body: await bodyOf(response, reading) };
    response.destroy();
    if (reading === "whole") throw new Error(`status ${status}, but the body ${undecoded}`);
    return { status, body: "", undecoded };
}
