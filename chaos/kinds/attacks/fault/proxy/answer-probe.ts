import type { Connection } from "./connection";
import { HeadEnd, requestHead } from "./http-head";
import { Meter } from "./meter";
import {
    answerWordOf,
    bannerOf,
    maxProbeLine,
    probeLimits,
    probeLineWithinMs,
    probeWords,
    type ProxyFault,
    unreachableAfterMs,
} from "./protocol";
import { Gone, readAheadBytes } from "./wire";

/** Answers a probe of the witness with what becomes of a request to a pod that is hit. @throws Gone */
export async function answerProbe(connection: Connection, port: string): Promise<void> {
    const { caller, shared } = connection;
    await caller.write(`${bannerOf(shared)}\n`);
    const line = await receive(connection, (bytes) => bytes.indexOf("\n") + 1, maxProbeLine);
    const uid = line.toString("latin1").trim();
    await caller.write(`${await wordFor(connection, port, uid)}\n`);
    await connection.close();
}

/** Waits for a part of the probe. @param endOf where it ends; 0 or undefined if the end has not come @throws Gone */
async function receive(
    { caller, changes }: Connection,
    endOf: (bytes: Buffer) => number | undefined,
    atMost: number,
): Promise<Buffer> {
    const end = () => endOf(caller.peek().subarray(0, atMost)) || undefined;
    const unreadable = () => caller.available >= atMost || caller.ended || caller.closed;
    await changes.untilWithin(probeLineWithinMs, () => end() !== undefined || unreadable());
    const length = end();
    if (length === undefined) throw new Gone();
    const part = caller.peek().subarray(0, length);
    caller.take(length);
    return part;
}

function receiveHead(connection: Connection): Promise<Buffer> {
    const head = new HeadEnd();
    return receive(connection, (bytes) => head.find(bytes), readAheadBytes);
}

async function wordFor(connection: Connection, port: string, uid: string): Promise<string> {
    const { pods, faults } = connection.shared;
    const request = faults.hasMatch ? requestHead(await receiveHead(connection)) : undefined;
    const endpoint = pods.find(port, uid);
    if (!endpoint) return probeWords.unknown;
    if (!(await connection.dial(endpoint, unreachableAfterMs))) return probeWords.unreachable;
    const fault = request === undefined || faults.means(request) ? faults.to(uid) : undefined;
    if (fault === undefined) return probeWords.connected;
    const answer = await connection.inflict(fault, false);
    return answer === undefined ? limited(connection, fault) : answerWordOf(answer)!;
}

/** Has the answer be limited as those of a target are, whichever stream a fault limits. */
function limited({ caller }: Connection, fault: ProxyFault): string {
    const { bytesPerSecond, cutAfter } = fault;
    if (bytesPerSecond === undefined && cutAfter === undefined) return probeWords.connected;
    const { bytes, cut } = probeLimits(fault);
    caller.meter = new Meter({ bytesPerSecond, cutAfter: cut }, { acts: true, pauses: false });
    return probeWords.connected.padEnd(bytes);
}
