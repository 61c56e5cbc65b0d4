/** How to tell HTTP/2 in clear text, with prior knowledge (RFC 9113, 3.3), from other protocols. */
import type { Wire } from "./wire";

const firstLine = Buffer.from("PRI * HTTP/2.0\r\n");

/** Whether a caller's bytes begin with the first line of HTTP/2's preface: nothing else begins so. */
export const beginsHttp2 = (bytes: Buffer): boolean => bytes.subarray(0, firstLine.length).equals(firstLine);

/** A SETTINGS frame of at most 42 settings: length, type, no flags, stream 0. */
const isSettings: ((byte: number) => boolean)[] = [
    (high) => high === 0,
    (middle) => middle === 0,
    (low) => low % 6 === 0,
    (type) => type === 4,
    ...Array<(byte: number) => boolean>(5).fill((byte) => byte === 0),
];

/**
 * Whether all that a pod has said may be the SETTINGS with which a server of HTTP/2 begins, maybe before its caller.
 * MySQL, which also begins with a length in three bytes, has the lowest first.
 */
export const greetsInHttp2 = (pod: Wire): boolean =>
    pod.available > 0 &&
    !pod.ended &&
    !pod.closed &&
    isSettings.every((test, at) => at >= pod.available || test(pod.peek()[at]!));
