/**
 * What others agree on with the proxy of the attack `fault`: its environment, its log, and the words of the witness's
 * probes.
 */

import { createHmac } from "node:crypto";
import { grpcStatuses } from "../../../../values/grpc-status";

export const proxyContainer = "proxy";

export interface ProxyEnvironment {
    NAMESPACE: string;
    /** Name of the proxy's pod, and of the headless Service whose EndpointSlices list the real pods. */
    SERVICE: string;
    /** Name of the Service whose place the proxy takes. */
    FAULTED: string;
    RUN: string;
    /** `ProxyPort[]` as JSON. */
    PORTS: string;
    /** `ProxyFault` as JSON. */
    FAULT: string;
    /** The uids of the chosen pods, as a JSON list. */
    TARGETS: string;
    PASS: string;
    /**
     * Name of the headless Service whose EndpointSlices list the witness: what connects from one of these addresses is
     * a probe.
     */
    WITNESS: string;
    /** Port of the readiness probe, over HTTP. */
    READY_PORT: string;
}

export interface ProxyPort {
    /** As in the EndpointSlices' ports: empty if the Service's only port has no name. */
    name: string;
    listen: number;
}

/**
 * How a request ends that is not forwarded: a status from 400 to 599 for HTTP in clear text, alone or with headers and
 * a body, a status of gRPC, a `reset` of the connection or, in HTTP/2, of the request, or `hang`: no answer at all.
 */
export type Abort = number | "reset" | "hang" | AbortAnswer | AbortGrpc;

/** What the proxy answers in a pod's place, in HTTP in clear text only. */
export interface AbortAnswer {
    /** 400 to 599. */
    status: number;
    /**
     * Names and values, at most 64, and 8000 bytes with 32 for each. Never put secrets here.
     * @default only what every answer has
     */
    headers?: Record<string, string>;
    /** Text of at most 4096 characters. Never put secrets here. @default a sentence that names the run */
    body?: string;
}

/** What the proxy answers to a gRPC call in a pod's place, in HTTP/2 in clear text only. */
export interface AbortGrpc {
    /** One of gRPC's status codes but `OK`: its name, such as `"UNAVAILABLE"`, or its number, 1 to 16. */
    grpc: GrpcStatus | number;
    /** Text of at most 1024 characters. Never put secrets here. @default a sentence that names the run */
    message?: string;
}

export const [, ...grpcFailures] = grpcStatuses;
export type GrpcStatus = (typeof grpcFailures)[number];

/** The status of HTTP that an abort answers with. Undefined if it answers with none. */
export const statusOf = (abort: Abort | undefined): number | undefined =>
    typeof abort === "number" ? abort : typeof abort === "object" && "status" in abort ? abort.status : undefined;

/** The number and the name of the status of gRPC that an abort answers with. Undefined if it answers with none. */
export function grpcStatusOf(abort: Abort | undefined): { code: number; name: string } | undefined {
    if (typeof abort !== "object" || !("grpc" in abort)) return undefined;
    const code = typeof abort.grpc === "number" ? abort.grpc : grpcStatuses.indexOf(abort.grpc);
    return { code, name: grpcStatuses[code]! };
}

/** What the proxy answers to a probe with, instead of a word, if the abort is a status. */
export function answerWordOf(abort: Abort | undefined): string | undefined {
    const grpc = grpcStatusOf(abort);
    return grpc ? `grpc ${grpc.code}` : statusOf(abort)?.toString();
}

/** Whether only HTTP in clear text can be faulted: nothing else has a status, or what a match looks at. */
export const needsHttp = ({ abort, match }: Pick<ProxyFault, "abort" | "match">): boolean =>
    match !== undefined || answerWordOf(abort) !== undefined;

/**
 * What happens to requests (HTTP in clear text), or to connections of anything else, to the chosen pods: the delay
 * first, then the abort or the limits.
 */
export interface ProxyFault extends Selection, ByteLimits {
    /** @default no delay */
    delayMs?: number;
    /** @default requests are passed on */
    abort?: Abort;
    /** @default all traffic */
    match?: RequestMatch;
    /** For how long the fault is in effect, then not, and so on, in milliseconds. @default it always is */
    pulse?: { onMs: number; offMs: number };
}

/** Which of those that match are hit, as they come: a share of them, unless it says `first` or `every`. */
export interface Selection {
    /** 0 to 100. */
    percentage: number;
    /** The first so many from when answers count. */
    first?: number;
    /** One of so many: the last of them. */
    every?: number;
    /** Whether the requests of each client are counted by themselves: of each address. @default all together */
    per?: "client";
}

/** What is done to the bytes of a request's answer, or of all that a pod sends on a connection. */
export interface ByteLimits {
    /** @default as fast as they come */
    bytesPerSecond?: number;
    /** After so many, and with the next one, the connection or, in HTTP/2, the request is reset. @default never */
    cutAfter?: number;
    /** Whose bytes: `upstream` are those that the caller sends. @default "downstream" */
    stream?: Stream;
}

export type Stream = "downstream" | "upstream";

/** What does not begin before answers count: nobody else shall use it up. */
export const beginsLate = ({ first, pulse }: Pick<ProxyFault, "first" | "pulse">): boolean =>
    first !== undefined || pulse !== undefined;

/** Which requests are meant: those that have all that is set here. */
export interface RequestMatch {
    /**
     * Path as it is sent, without the query: `/api/orders`, or `/api/*` for all that begin with `/api/`. Case counts.
     * That of a gRPC call is `/package.Service/Method`.
     * @default any path
     */
    path?: string;
    /** Method as it is sent, such as `POST`. Case counts. @default any method */
    method?: string;
    /** Names of headers, in any case, and exact values. Never put secrets here. @default any headers */
    headers?: Record<string, string>;
    /** Requests that are passed on all the same: objects of `path`, `method` and `headers`. @default none */
    except?: RequestPattern[];
}

export type RequestPattern = Pick<RequestMatch, "path" | "method" | "headers">;

/** What is done to the requests that go to the targets through a Service. */
export interface Fault extends ProxyFault {
    service: string;
    delayMs: number;
}

/**
 * What a proxy takes from its callers. Past a limit it refuses one of them, and goes on for all others:
 *
 * - A head that is longer is answered with 431, one that takes longer with 408, as servers do.
 * - For one connection or one byte too many, a connection is closed: see `Crowd`.
 */
export const limits = {
    /** The head of a request. */
    headBytes: 65_536,
    /** Time from the first byte of a head to its end, in milliseconds. */
    headMs: 10_000,
    /** Open connections of callers. */
    connections: 4_000,
    /** Bytes of all connections that were read and not yet passed on. */
    heldBytes: 24 * 1_024 * 1_024,
};

export type Limits = typeof limits;

/** How long a proxy that ends passes open connections on, once its Service leads elsewhere, in milliseconds. */
export const drainMs = 30_000;

/** 200 once all ports listen and the pods were listed, 503 before. */
export const readyPath = "/ready";

/** A line of the proxy's log, as JSON: at most one a second, when something has changed, and one every 2 s anyway. */
export interface ProxyReport {
    /** In milliseconds since the epoch. */
    at: number;
    /** When the proxy started, as `at`. Absent of an earlier version. */
    since?: number;
    /** Numbers since the proxy's start, by the uids of the pods. Pods without traffic are absent. */
    pods: Record<string, PodCounts>;
    /** Connections that were closed for one of the `limits` of all of them together. Absent if there are none. */
    refused?: number;
    /** Clients that had all of their `first`, if these are counted for each. Absent if there are none. */
    clients?: number;
}

/**
 * A line of the proxy's log, as JSON: which of the Service's pods it reaches, before callers come. After its start it
 * tries each ready pod at each port, once a second until that is reached. Written when it changes.
 */
export interface ReachReport {
    reach: Tried[];
}

export interface Tried {
    pod: string;
    /** Where the proxy listens for what leads there. */
    listen: number;
    /**
     * `encrypted`: the pod answers in TLS; this is asked only for a fault that reads requests. `refused`: the pod, or a
     * policy, rejects connections. `silent`: nothing came within a second.
     */
    saw: "connected" | "encrypted" | "refused" | "silent";
}

/**
 * For how long the proxy tries to reach what it has not reached, in milliseconds since its start. The run looks at that
 * later, for up to 45 s from when the proxy is ready and the targets are labeled.
 */
export const triesForMs = 180_000;

/** What went to a pod. The witness's probes do not count. */
export interface PodCounts {
    /** Requests in HTTP in clear text that match, and connections of anything else. */
    requests: number;
    /** Those that the fault has hit: delayed, aborted, slowed or cut. */
    faulted: number;
    /**
     * Those that are not HTTP in clear text, while only that has the status that was to answer them, or requests that
     * could match; for a status of gRPC, also requests that are no gRPC. They are passed on.
     */
    unfaultable: number;
    /** Requests that do not match: they are passed on. Absent if there are none. */
    unmatched?: number;
    /** Connections that the pod did not accept. */
    unreachable: number;
    /** Requests in the traces that checks have begun, matching or not. Absent if there are none. */
    ofChecks?: number;
    /** Those of them that the fault has hit. Absent if there are none. */
    ofChecksFaulted?: number;
    /** Those that `bytesPerSecond` has held for a time that somebody notices. Absent if there are none. */
    throttled?: number;
    /** Those that `cutAfter` has cut. Absent if there are none. */
    cut?: number;
    /** Those of which something was passed on because the pulse was off. Absent if there are none. */
    paused?: number;
}

/** What a fault may do to one request, or to one connection of what has none. */
export type Effect = "faulted" | "throttled" | "cut" | "paused";

/**
 * How the witness's probes go: the proxy sends the banner at once, the witness a line with the uid of a pod and, if the
 * fault has a match, the head of a request. The proxy connects to that pod, does what it does to all requests that it
 * faults, if the pod is a target and the request matches, and answers with one of these words or, for an abort with a
 * status, with `answerWordOf` it. If the fault limits bytes, spaces follow: see `probeLimits`. Whether such a request
 * would be hit next does not count: `first`, `every`, the pulse and the dice are left out. It never sends that request
 * on, whose method may change something. Lines end with `\n`.
 */
export const probeWords = { connected: "connected", unreachable: "unreachable", unknown: "unknown" } as const;

/**
 * The first line of what the proxy sends to the witness, without its end. Whoever answers in the proxy's place may know
 * the name of the run, which the proxy's answers have, but not its random value.
 *
 * @param pass see `labels.pass`. Undefined for a proxy of an earlier version
 */
export function bannerOf({ run, pass }: { run: string; pass?: string }): string {
    const banner = `chaos-experiments ${run}`;
    return pass === undefined ? banner : `${banner} ${createHmac("sha256", pass).update(banner).digest("hex")}`;
}

/**
 * What the proxy does to its answer to a probe of a target, as to those of the target: the length of the line without
 * its end, after how many bytes it is cut, if at all, and how long it takes at least, in milliseconds.
 */
export function probeLimits({ bytesPerSecond, cutAfter }: ByteLimits): {
    bytes: number;
    cut?: number;
    takesMs: number;
} {
    // Long enough to be measured, and short enough to be sent each second.
    const bytes = Math.min(bytesPerSecond === undefined ? 64 : Math.ceil(bytesPerSecond / 5), 16_384);
    const cut = cutAfter === undefined ? undefined : Math.min(cutAfter, bytes);
    return { bytes, cut, takesMs: (1_000 * (cut ?? bytes)) / (bytesPerSecond ?? Infinity) };
}

/** The longest line that a probe may send, in bytes. */
export const maxProbeLine = 100;
/** For how long the proxy waits for that line, and for the head, in milliseconds. */
export const probeLineWithinMs = 5_000;
/** The proxy calls a pod unreachable to the witness after this time, in milliseconds. */
export const unreachableAfterMs = 1_000;

/**
 * Node's options for the proxy's program. Its peak, with 16 connections that ask as fast as they can, is 90 MB without
 * any, 48 MB of which Node alone takes:
 *
 * - With the first it is 66 to 69 MB: garbage is collected earlier.
 * - With the last it is 63 MB: V8 compiles one function at a time. Throughput stays the same.
 *
 * The second makes room for some 9,000 open connections, which take 8 KB each: 4,000 lead to 94 MB. With 16 MB the
 * program ends at less than 2,000. Give the container 160 MiB: `limits` keep the peak below that.
 */
export const nodeFlags = ["--max-semi-space-size=1", "--max-old-space-size=96", "--no-concurrent-recompilation"];
