import { connect } from "node:net";
import { Changes, Wire } from "./wire";
import { bannerOf, probeWords } from "./protocol";

/**
 * What the witness saw when it probed a pod through the proxy. Times are in milliseconds, from the naming of the pod to
 * the answer:
 *
 * - `refused`: the connection was not accepted.
 * - `bypassed`: it was, but not by the run's proxy.
 * - `connected`: a faulted request would have reached the pod, after this time.
 * - `status`: it would have been answered with this status in the pod's place: see `answerWordOf`.
 * - `reset`: the connection would have been closed or reset.
 * - `silent`: there was no answer in time.
 * - `unreachable`: the pod did not accept the proxy's connection.
 * - `unknown`: the proxy knows no such pod.
 */
export type Probed =
    | { saw: "refused" | "bypassed" | "silent" }
    | { saw: "connected" | "reset" | "unreachable" | "unknown"; afterMs: number }
    | { saw: "status"; status: string; afterMs: number };

/** If no banner has come by then, the connection went past the proxy, which sends its banner at once. */
const bannerWithinMs = 2_000;

/**
 * Asks the proxy what becomes of requests to a pod. Only pods that its `WITNESS` lists may ask.
 *
 * @param proxy the banner of another run's proxy counts as none
 * @param timeoutMs what has not come by then, from the naming of the pod, is `silent`. Connection and banner have as
 *     much time before that, at most two seconds
 * @param head of a request, for a fault that has a match
 */
export async function probeThrough(
    endpoint: { host: string; port: number },
    proxy: Parameters<typeof bannerOf>[0],
    uid: string,
    timeoutMs: number,
    head = "",
): Promise<Probed> {
    const changes = new Changes();
    const socket = connect({ ...endpoint, allowHalfOpen: true });
    const wire = new Wire(socket, changes);
    // A server that resets a connection at once has accepted it.
    let isReset = false;
    socket.on("error", ({ code }: NodeJS.ErrnoException) => (isReset = code === "ECONNRESET"));
    try {
        const withinMs = Math.min(timeoutMs, bannerWithinMs);
        await changes.untilWithin(withinMs, () => !socket.connecting || wire.closed);
        if (socket.connecting || (socket.destroyed && !isReset)) return { saw: "refused" };
        if ((await lineWithin(wire, changes, withinMs)) !== bannerOf(proxy)) return { saw: "bypassed" };
        const asked = performance.now();
        socket.write(`${uid}\n${head}`);
        const answer = await lineWithin(wire, changes, timeoutMs);
        const afterMs = performance.now() - asked;
        if (answer === undefined) return wire.ended || wire.closed ? { saw: "reset", afterMs } : { saw: "silent" };
        const word = Object.values(probeWords).find((one) => one === answer);
        return word ? { saw: word, afterMs } : { saw: "status", status: answer, afterMs };
    } finally {
        wire.reset();
    }
}

async function lineWithin(wire: Wire, changes: Changes, ms: number): Promise<string | undefined> {
    const length = () => wire.peek().indexOf("\n") + 1;
    await changes.untilWithin(ms, () => length() > 0 || wire.ended || wire.closed);
    return length() > 0 ? wire.take(length()).toString("latin1").trim() : undefined;
}
