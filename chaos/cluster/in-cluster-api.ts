import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import type { Agent, RequestOptions } from "node:https";
import { isIPv6 } from "node:net";
import { answerOf, type Destination, eachLine, send } from "./request";
import { type ApiCall, ApiError, type ApiResponse } from "./verbs";

export { ApiError } from "./verbs";

/** An API server, and the ServiceAccount to call it with. */
export interface ApiServer {
    host: string | undefined;
    port: string | number | undefined;
    /** Folder with the account's `token` and the `ca.crt` of the server. */
    account: string;
}

/** What Kubernetes gives a pod. */
export const apiServerOfPod = (env: NodeJS.ProcessEnv = process.env): ApiServer => ({
    host: env.KUBERNETES_SERVICE_HOST,
    port: env.KUBERNETES_SERVICE_PORT,
    account: env.ACCOUNT_FOLDER ?? "/var/run/secrets/kubernetes.io/serviceaccount",
});

export const ownApiServer = apiServerOfPod();

export interface PodCall extends ApiCall {
    /** The call fails when the server sends nothing for this long, in milliseconds. @default 5000 */
    silenceMs?: number;
    /** Connections to use. @default a new one for the call */
    agent?: Agent;
}

/** Each call reads the token again, because the kubelet renews it. */
export function destinationInPod({ host, port, account } = ownApiServer, agent: Agent | false = false): Destination {
    const ca = readFileSync(`${account}/ca.crt`);
    const headers = { authorization: `Bearer ${readFileSync(`${account}/token`, "utf8")}` };
    const address = isIPv6(host ?? "") ? `[${host}]` : host;
    const options: RequestOptions = { agent, ca, headers };
    return { server: `https://${address}:${port}`, options };
}

/**
 * Calls the API server, and resolves when the response begins: the caller reads its status and body, for example of a
 * watch.
 */
export async function openApi(path: string, call: PodCall = {}, server = ownApiServer): Promise<IncomingMessage> {
    const { agent, silenceMs = 5_000, ...sent } = call;
    return send(path, { ...sent, silenceMs }, destinationInPod(server, agent));
}

export async function callApi(path: string, call?: PodCall, server?: ApiServer): Promise<ApiResponse> {
    return answerOf(await openApi(path, call, server));
}

/** The API server answered a reading call with another status than 200. */
export function unread(status: number, path: string): ApiError {
    const message = `the API server answered with status ${status} to ${path.split("?")[0]}`;
    return new ApiError(status, JSON.stringify({ message }));
}

/** Reads what a path has. @throws ApiError */
export async function readApi<T>(path: string, call?: PodCall, server?: ApiServer): Promise<T> {
    const { status, body } = await callApi(path, call, server);
    if (status !== 200) throw unread(status, path);
    return JSON.parse(body) as T;
}

/** Reads a watch line by line as it comes, until the server ends it. @throws ApiError */
export async function watchApi(
    path: string,
    onLine: (line: string) => void,
    call?: PodCall,
    server?: ApiServer,
): Promise<void> {
    const response = await openApi(path, call, server);
    if (response.statusCode !== 200) {
        response.resume();
        throw unread(response.statusCode!, path);
    }
    await eachLine(response, onLine);
}
