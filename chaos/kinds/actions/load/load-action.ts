import type { CaReference, SecretReference } from "../../checks/endpoint-schema";
import { type Quantile, quantiles } from "../../../values/compared";
import { type Duration, parseDuration } from "../../../values/duration";
import { endsLateMs } from "./sender/settings";

/** Sends requests at fixed times from a pod in the cluster, from before the attacks until the run is over. */
export interface LoadAction {
    kind: "load";
    /** Unique among the experiment's loads. @default by its request or script: `load on POST /orders of gateway` */
    name?: string;
    /** A script of k6 that sends the requests. It excludes all other fields but `name`. */
    k6?: K6Load;
    /**
     * Requests per second, 1 to 2000. They are sent when they are due, even while earlier answers are missing. Required
     * without `k6`.
     */
    perSecond?: number;
    /** Path of the request, such as `/products`. Required without `k6`. */
    path?: string;
    /** Name of a Service. Excludes `url`; one of them is required. */
    service?: string;
    /** Namespace of `service`. @default the experiment's */
    namespace?: string;
    /** Number or name of a port of `service`. @default its only TCP port */
    port?: number | string;
    /** How `service` is asked. @default "http" */
    scheme?: "http" | "https";
    /** Base URL with `http` or `https`, as a pod reaches it, to which the path is added. Excludes `service`. */
    url?: string;
    /** Certificates in PEM; only what they have signed is trusted. @default the CAs that Node.js trusts */
    ca?: string;
    /** The same, in a ConfigMap or a Secret of the experiment's namespace. Excludes `ca`. */
    caFrom?: CaReference;
    /** Host name that the certificate must be valid for. @default the host that is asked */
    serverName?: string;
    /** Method as it is sent, such as `POST`. Case counts. @default "GET" */
    method?: string;
    /** Names and values. `{uuid}` is a new UUID in each request. Never put secrets here: use `headersFrom`. */
    headers?: Record<string, string>;
    /** Headers from Secrets of the experiment's namespace. */
    headersFrom?: Record<string, SecretReference>;
    /** Parameters from such Secrets. They are encoded, and added to the query. */
    queryFrom?: Record<string, SecretReference>;
    /** Object that is sent as JSON. Never put secrets here: use `bodyFrom`. */
    body?: Record<string, unknown>;
    /** Fields of the body from such Secrets, by their paths, such as `login.password`. */
    bodyFrom?: Record<string, SecretReference>;
    /** The good status, or the first and the last of a range; 100 to 599. @default [200, 299] */
    status?: number | [least: number, most: number];
    /** Time limit of a request, in milliseconds since it was due, 100 to 60 000. @default 5000 */
    timeoutMs?: number;
    /**
     * Requests that wait for an answer at a time, at most, 1 to 1000, each over a connection of its own, which is used
     * for 1 s.
     * @default as many as are due within `timeoutMs` and 1 s more, 10 to 1000
     */
    connections?: number;
    /** Required share of good answers, above 0 and up to 1. @default none is required */
    successRate?: number;
    /** How slow its answers may be, since they were due. Bad answers count as slower. @default any time */
    latency?: LoadLatency;
}

/** Runs in a container with at most 1 CPU and 1 GiB, as the user 1000 by default, and writes no files. */
export interface K6Load {
    /** An image with k6 as its entrypoint, and the script. */
    image: string;
    /** The arguments of k6, such as `["run", "/scripts/shop.js"]`. Never put secrets here. */
    args: string[];
}

export interface LoadLatency {
    /** Of half of the requests. @default no limit */
    p50?: LoadLimit;
    /** Of 95% of the requests. @default no limit */
    p95?: LoadLimit;
    /** Of 99% of the requests. @default no limit */
    p99?: LoadLimit;
}

export interface LoadLimit {
    /** A time, such as `300ms`, at most `timeoutMs`. */
    atMost: Duration;
}

export const usualTimeoutMs = 5_000;
export const most = { perSecond: 2_000, connections: 1_000 };
const leastConnections = 10;

export const nameOf = (action: LoadAction): string =>
    action.name ?? `load ${action.k6 ? "by" : "on"} ${requestOf(action)}`;

export function requestOf({ method = "GET", path = "", url, service, k6 }: LoadAction): string {
    if (k6) return `k6 ${k6.args.find((arg) => /\.(?:[jt]s|tar)$/.test(arg)) ?? k6.image}`;
    const place = url === undefined ? path : url.replace(/\/$/, "") + path;
    return [method === "GET" ? place : `${method} ${place}`, ...(service === undefined ? [] : [service])].join(" of ");
}

/** What is required of its requests: of the success rate or a quantile, the share, and the latency that it may have. */
export const requiredOf = ({ successRate, latency = {} }: LoadAction) => [
    ...(successRate === undefined ? [] : [{ of: "successRate" as const, required: successRate }]),
    ...(Object.keys(quantiles) as Quantile[]).flatMap((of) => {
        const withinMs = latency[of] && parseDuration(latency[of].atMost)!;
        return withinMs === undefined ? [] : [{ of, required: quantiles[of], withinMs }];
    }),
];

/** While the target hangs, each request waits for its time limit, and longer if the sender is late to end it. */
export const connectionsOf = ({ connections, perSecond = 0, timeoutMs = usualTimeoutMs }: LoadAction): number => {
    const waiting = Math.ceil((perSecond * (timeoutMs + endsLateMs)) / 1_000);
    return connections ?? Math.min(most.connections, Math.max(leastConnections, waiting));
};
