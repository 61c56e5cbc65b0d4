import { connect, type Socket } from "node:net";
import { isMarked } from "../../../../values/trace-mark";
import { Changes, Gone, pump, Wire } from "./wire";
import type { Counts } from "./counts";
import type { Crowd, Member } from "./crowd";
import type { Hit } from "./hit";
import type { Faults } from "./faults";
import type { Matchable } from "./matcher";
import type { AbortAnswer, AbortGrpc, Effect, Limits, ProxyFault } from "./protocol";
import type { Pods, PodEndpoint } from "./slices";

export interface Shared {
    run: string;
    pass: string;
    pods: Pods;
    faults: Faults;
    counts: Counts;
    limits: Limits;
    crowd: Crowd<Connection>;
    /** Whether connections are to be closed between two requests. */
    closesIdle: boolean;
}

/** What the proxy answers in a pod's place. */
export type Answer = AbortAnswer | AbortGrpc;

/** A connection whose other end is gone without a word would otherwise stay open for good. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelay: 60_000 };

/** How long a caller may take to see that its connection ends, in milliseconds. */
export const lingerMs = 1_000;

export class Connection implements Member {
    readonly changes = new Changes();
    readonly caller: Wire;
    readonly address: string | undefined;
    idle = false;
    movedAt = performance.now();
    heldBytes = 0;
    /**
     * Whether the pod's side does not matter now, because the proxy itself answered last: if the pod closes it while it
     * idles, the next request gets another connection.
     */
    spared = false;
    isHttp2 = false;
    private podWire?: Wire;
    private podEndpoint?: PodEndpoint;

    constructor(
        socket: Socket,
        readonly shared: Shared,
    ) {
        this.address = socket.remoteAddress;
        this.caller = new Wire(socket, this.changes, this.hold);
        // The pod must not go on working for a caller that is gone.
        socket.on("close", (failed) => {
            if (failed) this.podWire?.reset();
        });
    }

    get pod(): Wire {
        return this.podWire!;
    }

    get uid(): string {
        return this.podEndpoint!.uid;
    }

    /** Notes that it holds more bytes; a negative number says that so many were passed on. */
    readonly hold = (bytes: number): void => {
        this.heldBytes += bytes;
        if (bytes < 0) this.movedAt = performance.now();
        this.shared.crowd.holds(this, bytes);
    };

    get podStirs(): boolean {
        return this.pod.available > 0 || this.pod.ended || this.pod.closed;
    }

    /**
     * Connects to a pod, in place of an earlier connection.
     *
     * @param withinMs @default as long as the kernel tries
     * @returns whether the pod accepts
     * @throws Gone if the caller is gone
     */
    async dial(endpoint: PodEndpoint, withinMs = 2 ** 31 - 1): Promise<boolean> {
        this.podWire?.reset();
        const socket = connectTo(endpoint);
        this.podEndpoint = endpoint;
        const pod = (this.podWire = new Wire(socket, this.changes, this.hold));
        await this.changes.untilWithin(withinMs, () => !socket.connecting || pod.closed || this.caller.closed);
        if (this.caller.closed) throw new Gone();
        return !socket.connecting && !socket.destroyed;
    }

    /**
     * Connects to a pod for its caller. If the pod does not accept, the caller is reset: a Service would refuse it, but
     * the proxy has accepted it already.
     *
     * @throws Gone
     */
    async reach(endpoint: PodEndpoint): Promise<void> {
        if (await this.dial(endpoint)) return;
        this.shared.counts.add(endpoint.uid, "unreachable");
        throw new Gone();
    }

    /** Connects again if the pod closed its connection while the proxy did other things. */
    async reachAgain(): Promise<void> {
        if (this.podStirs) await this.reach(this.podEndpoint!);
    }

    /** Another connection to the same pod, beside the first. Undefined if it accepts none, or the caller is gone. */
    async another(): Promise<Socket | undefined> {
        const socket = connectTo(this.podEndpoint!).on("error", () => {});
        socket.once("connect", this.changes.notify).once("close", this.changes.notify);
        await this.changes.until(() => !socket.connecting || socket.destroyed || this.caller.closed);
        if (!socket.connecting && !socket.destroyed && !this.caller.closed) return socket;
        socket.destroy();
        return undefined;
    }

    /**
     * Does what a fault asks for. If the faults end meanwhile, all is passed on, or reset if it hangs.
     *
     * @param halfOpen whether a caller that has ended its own side may still wait for something. That it has ended it
     *     is noticed only if it sent no more than `readAheadBytes` that nobody has taken
     * @returns what to answer with; undefined to pass on
     * @throws Gone after a reset or a hang, and if the caller does not wait
     */
    async inflict({ delayMs, abort }: ProxyFault, halfOpen: boolean): Promise<Answer | undefined> {
        const { caller, shared } = this;
        const left = () => caller.closed || (caller.ended && !halfOpen);
        if (delayMs) await this.changes.untilWithin(delayMs, () => shared.faults.over || left());
        if (left()) throw new Gone();
        if (shared.faults.over) return undefined;
        if (abort === "hang") {
            // The pod would close an idle connection at some time, which would end the hang.
            this.podWire?.reset();
            await caller.discardUntil(() => shared.faults.over);
            throw new Gone();
        }
        if (abort === "reset") throw new Gone();
        return typeof abort === "number" ? { status: abort } : abort;
    }

    /** Has the bytes of a request, or of the connection, be limited as a fault says. @param hit @default no longer */
    limit(hit?: Hit): void {
        this.caller.meter = this.pod.meter = undefined;
        if (hit) (hit.fault.stream === "upstream" ? this.pod : this.caller).meter = hit.meter;
    }

    /** Passes on all that is still to come. @throws Gone */
    async tunnel(): Promise<void> {
        await together([pump(this.caller, this.pod), pump(this.pod, this.caller)]);
        await this.flush();
    }

    /** Ends the connection after an answer of which the caller must not lose anything. */
    async close(): Promise<void> {
        this.caller.end();
        this.podWire?.end();
        // If bytes stay unread, the kernel sends an RST, which may overtake the answer.
        await this.changes.untilWithin(lingerMs, () => {
            while (this.caller.available > 0) this.caller.take();
            return this.caller.exhausted || this.caller.closed;
        });
    }

    /** Waits until all is sent, after both sides have ended. */
    async flush(): Promise<void> {
        await this.changes.until(() => this.caller.closed && (this.podWire?.closed ?? true));
    }

    reset(): void {
        this.caller.reset();
        this.podWire?.reset();
    }

    /** Ends what has not ended by itself: to Node.js's client, a reset of HTTP/2 after a GOAWAY is an ordinary end. */
    giveUp(): void {
        if (!this.isHttp2) return this.reset();
        this.caller.socket.destroy();
        this.podWire?.reset();
    }
}

const connectTo = ({ address: host, port }: PodEndpoint): Socket =>
    connect({ host, port, allowHalfOpen: true, ...keepAlive });

/**
 * Waits for all, even after one has failed: what a pod has sent before it broke the connection goes to the caller.
 * @throws the first error
 */
export async function together(tasks: Promise<void>[]): Promise<void> {
    for (const result of await Promise.allSettled(tasks)) {
        if (result.status === "rejected") throw result.reason;
    }
}

/** Serves what is not HTTP in clear text: TLS, databases. A fault hits the whole connection. */
export async function serveOpaque(connection: Connection): Promise<void> {
    const { caller, pod } = connection;
    const hit = drawOpaque(connection);
    if (hit?.begins()) {
        await connection.inflict(hit.fault, true);
        if (caller.closed || (pod.closed && !pod.ended)) throw new Gone();
    }
    connection.limit(hit);
    await connection.tunnel();
}

/** Whether a request is hit. Counts it. @param isGrpc whether it can be answered as gRPC */
export function drawRequest(
    { shared: { counts, faults, pass }, uid, address }: Connection,
    request: Matchable,
    isGrpc: boolean,
): Hit | undefined {
    const isOfCheck = isMarked(request.headers, pass);
    if (isOfCheck) counts.add(uid, "ofChecks");
    const isMeant = faults.means(request);
    counts.add(uid, isMeant ? "requests" : "unmatched");
    if (!isMeant) return undefined;
    const hit = faults.draw(uid, address!, (effect) => {
        counts.add(uid, effect);
        if (effect === "faulted" && isOfCheck) counts.add(uid, "ofChecksFaulted");
    });
    if (!faults.needsGrpc || isGrpc) return hit;
    if (hit) counts.add(uid, "unfaultable");
    return undefined;
}

/** Whether a connection that is not, or no longer, HTTP in clear text is hit. Counts it. */
export function drawOpaque({ shared: { counts, faults }, uid, address }: Connection): Hit | undefined {
    counts.add(uid, "requests");
    const hit = faults.draw(uid, address!, (effect: Effect) => counts.add(uid, effect));
    if (!faults.needsHttp) return hit;
    if (hit) counts.add(uid, "unfaultable");
    // A delay without its status would be another attack than the one that was defined.
    return undefined;
}
