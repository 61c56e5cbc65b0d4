import {
    Agent as HttpAgent,
    type IncomingMessage,
    request as httpRequest,
    type RequestOptions,
    validateHeaderValue,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isOfThisMachine, requestTarget, withFields, withQuery, withUuids } from "../../../checks/request-parts";
import { afterRunning, stalledBetween } from "../../../checks/stalls";
import { type FromVariable, endsLateMs, type SenderSettings } from "./settings";
import type { Became } from "./seconds";

/**
 * How long a connection is used, in milliseconds, and how long it may be idle: then a fresh one takes its place. One
 * that stays open survives a new NetworkPolicy, and a change of its Service: the load would never meet the attack.
 */
const [keptMs, idleMs] = [1_000, 1_000];

/**
 * Sends requests of one kind over kept connections.
 *
 * @param env has what is in Secrets
 * @throws Error if a value of it cannot be sent, without the value
 */
export function exchanger(settings: SenderSettings, env: Readonly<Record<string, string | undefined>>) {
    const { origin, method, body, connections, timeoutMs, ca, caFrom, serverName } = settings;
    // As in a check, without the line break at the end of a file.
    const valueOf = ({ variable, prefix = "" }: FromVariable, field: string) => {
        const value = (env[variable] ?? "").trim();
        if (value === "") throw new Error(`${field}: the value is empty`);
        return prefix + value;
    };
    const valuesOf = (of: "headersFrom" | "queryFrom") =>
        Object.fromEntries(Object.entries(settings[of]).map(([name, one]) => [name, valueOf(one, `${of}.${name}`)]));
    const content = withFields(
        body,
        settings.bodyFrom.map((one) => [one.keys, valueOf(one, `bodyFrom.${one.keys.join(".")}`)]),
    );
    const sent = content && Buffer.from(JSON.stringify(content));
    const url = new URL(origin + withQuery(settings.path, valuesOf("queryFrom")));
    const isSecure = url.protocol === "https:";
    const kept = { keepAlive: true, maxSockets: connections, maxFreeSockets: connections, timeout: idleMs };
    const certificates = caFrom ? valueOf(caFrom, "caFrom") : ca;
    const secure = { ...kept, ca: certificates, ...(serverName !== undefined && { servername: serverName }) };
    const agent = isSecure ? new HttpsAgent(secure) : new HttpAgent(kept);
    limitLife(agent);
    const options: RequestOptions = {
        agent,
        host: url.hostname.replace(/^\[|\]$/g, ""),
        port: url.port,
        method,
        path: requestTarget(url),
    };
    const fixed = {
        accept: "application/json, */*;q=0.8",
        "user-agent": "chaos-experiments",
        ...(sent && { "content-type": "application/json", "content-length": String(sent.length) }),
        ...settings.headers,
        ...valuesOf("headersFrom"),
    };
    // The message has the name alone.
    for (const [name, value] of Object.entries(fixed)) validateHeaderValue(name, value);
    const hasUuid = Object.values(fixed).some((value) => value.includes("{uuid}"));
    const request = isSecure ? httpsRequest : httpRequest;

    /** @param dueAt in milliseconds of `performance.now()` @param done is called once */
    return (dueAt: number, done: (it: Became) => void): void => {
        const sentAt = performance.now();
        let isDone = false;
        const end = (it: Became) => {
            if (isDone) return;
            isDone = true;
            cancel();
            done(it);
        };
        const asked = request({ ...options, headers: hasUuid ? withUuids(fixed) : fixed });
        // Node.js has made the method upper case.
        asked.method = method;
        const cancel = afterRunning(timeoutMs - (sentAt - dueAt), endsLateMs, (isWhole) => {
            end(isWhole ? { bad: `no answer within ${timeoutMs} ms` } : "unseen");
            asked.destroy();
        });
        asked.on("response", (response) => answered(response, settings.status, dueAt, sentAt, end));
        asked.on("error", (error: NodeJS.ErrnoException) => {
            const { code = "no answer" } = error;
            end(isOfThisMachine(error) ? { unsent: code } : { bad: code });
        });
        asked.on("close", () => end({ bad: "no answer" }));
        asked.end(sent);
    };
}

function limitLife(agent: HttpAgent): void {
    const openedAt = new WeakMap<object, number>();
    const create = agent.createConnection.bind(agent);
    agent.createConnection = (...args) => {
        const socket = create(...args);
        if (socket) openedAt.set(socket, performance.now());
        return socket;
    };
    const keep = agent.keepSocketAlive.bind(agent) as (socket: object) => unknown;
    // By the documentation, the agent closes the connection if this is falsy.
    agent.keepSocketAlive = (socket) =>
        (performance.now() - (openedAt.get(socket) ?? -Infinity) < keptMs && keep(socket)) as never;
}

function answered(
    response: IncomingMessage,
    [least, most]: SenderSettings["status"],
    dueAt: number,
    sentAt: number,
    end: (it: Became) => void,
): void {
    const status = response.statusCode!;
    response.resume();
    response.on("end", () => {
        if (status < least || status > most) return end({ bad: `status ${status}` });
        const now = performance.now();
        end({ latencyMs: now - dueAt, ownMs: sentAt - dueAt + stalledBetween(sentAt, now).delayMs });
    });
    response.on("aborted", () => end({ bad: `status ${status}, and the body did not end` }));
}
