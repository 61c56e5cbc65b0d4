import type { Connection } from "./connection";
import { bannerOf, maxProbeLine, probeLineWithinMs, probeWords, unreachableAfterMs } from "./protocol";
import { Gone } from "./wire";

/**
 * Answers a probe of the witness: what becomes of a request to a pod, if the dice hit.
 *
 * @param port name of the Service's port that the probe came to
 * @throws Gone
 */
export async function answerProbe(connection: Connection, port: string): Promise<void> {
    const { caller, changes, shared } = connection;
    await caller.write(`${bannerOf(shared.run)}\n`);
    const line = () => caller.peek().subarray(0, maxProbeLine).indexOf("\n");
    const unreadable = () => caller.available >= maxProbeLine || caller.ended || caller.closed;
    await changes.untilWithin(probeLineWithinMs, () => line() !== -1 || unreadable());
    if (line() === -1) throw new Gone();
    const uid = caller
        .take(line() + 1)
        .toString("latin1")
        .trim();
    await caller.write(`${await wordFor(connection, port, uid)}\n`);
    await connection.close();
}

async function wordFor(connection: Connection, port: string, uid: string): Promise<string> {
    const { pods, faults } = connection.shared;
    const endpoint = pods.find(port, uid);
    if (!endpoint) return probeWords.unknown;
    if (!(await connection.dial(endpoint, unreachableAfterMs))) return probeWords.unreachable;
    const fault = faults.to(uid);
    const status = fault && (await connection.inflict(fault, false));
    return String(status ?? probeWords.connected);
}
