import { type Duration, parseDuration } from "../../../values/duration";
import { parsePercentage } from "../../../values/share";
import type { Abort, Fault, RequestMatch, Stream } from "./proxy/protocol";

/**
 * Delays, aborts, slows or cuts what callers exchange with the targets through a Service. An ordinary pod, the proxy,
 * takes the Service's place: the Service's selector points to it, and it forwards everything to the Service's pods.
 * Connections that were open before, and callers that do not use the Service, are not affected.
 */
export interface FaultAttack {
    kind: "fault";
    /** Name of the Service, in the targets' namespace. */
    service: string;
    /**
     * How long a request in HTTP in clear text, else the beginning of a connection, is held, 1 ms to 1 h, or 0 ms.
     * @default "0ms"
     */
    delay?: Duration;
    /**
     * What the proxy does after the delay. A number from 400 to 599: it answers with that status, in HTTP in clear text
     * only. An object: the same, with headers and a body, or a status of gRPC. `reset`: it resets the connection or, in
     * HTTP/2, the request. `hang`: it never answers. @default it forwards
     */
    abort?: Abort;
    /**
     * How fast an answer in HTTP, with its head, else all that the pod sends on a connection, is passed on, at least 1.
     * Excludes `abort`. @default as fast as it comes
     */
    bytesPerSecond?: number;
    /**
     * After so many bytes of that, and with the next one, the connection or, in HTTP/2, the request is reset. `0`: the
     * pod does its work, and the caller gets no answer. Excludes `abort`. @default never
     */
    cutAfter?: number;
    /**
     * Whose bytes these two limit. `downstream`: what the pod sends. `upstream`: what the caller sends.
     * @default "downstream"
     */
    stream?: Stream;
    /** Share of the requests, else of the connections, that is hit. @default "100%" */
    percentage?: string;
    /** Only these requests are hit. HTTP in clear text only, with gRPC. @default all traffic */
    match?: RequestMatch;
    /**
     * Only the first so many of these requests, else connections, are hit, counted from the end of the grace period.
     * Excludes `percentage`, `every` and `pulse`. @default all
     */
    first?: number;
    /** Only one of so many is hit, at least 2: the last of them. Excludes `percentage` and `first`. @default all */
    every?: number;
    /** `client`: `first` and `every` count those of each source address by themselves. @default all together */
    per?: "client";
    /** The fault is in effect for a time, then not, and so on. @default it always is */
    pulse?: {
        /** From the end of the grace period, 100 ms to 1 h. */
        on: Duration;
        /** After that, 100 ms to 1 h. */
        off: Duration;
    };
}

export function faultOf({ delay = "0ms", percentage = "100%", pulse, ...attack }: FaultAttack): Fault {
    const { service, abort, bytesPerSecond, cutAfter, stream, match, first, every, per } = attack;
    return {
        ...{ service, abort, bytesPerSecond, cutAfter, stream, match, first, every, per },
        delayMs: parseDuration(delay)!,
        percentage: parsePercentage(percentage)! * 100,
        ...(pulse && { pulse: { onMs: parseDuration(pulse.on)!, offMs: parseDuration(pulse.off)! } }),
    };
}
