import { connect } from "node:net";
import { parseEndpoint } from "../values/endpoint";

const connectTimeoutMs = 1_000;
const rarelyMs = 2_000;

/** Of the first tries before the attacks. */
const earlyTimeoutsMs = [200, 200, 400, 800];

/** Whether a fresh connection is accepted. */
export function accepts(endpoint: string, timeoutMs = connectTimeoutMs): Promise<boolean> {
    return new Promise((resolve) => {
        const socket = connect({ ...parseEndpoint(endpoint), timeout: timeoutMs });
        const settle = (accepted: boolean) => {
            socket.destroy();
            resolve(accepted);
        };
        socket
            .once("connect", () => settle(true))
            .once("error", () => settle(false))
            .once("timeout", () => settle(false));
    });
}

/**
 * Tries before the attacks: a network may not yet let this pod through to the targets, by a policy that was made at the
 * same time. Of a packet that it has dropped, the kernel sends another only after a second, so the first tries of each
 * endpoint are short: saves 0.8 s of each run in a namespace with policies.
 */
export class EarlyConnections {
    private readonly tries = new Map<string, number>();

    async accepts(endpoint: string): Promise<boolean> {
        const tries = this.tries.get(endpoint) ?? 0;
        const accepted = await accepts(endpoint, earlyTimeoutsMs[tries]);
        this.tries.set(endpoint, accepted ? earlyTimeoutsMs.length : tries + 1);
        return accepted;
    }

    /** Whether it has accepted none, and was tried a few times only. */
    isEarly(endpoint: string): boolean {
        return (this.tries.get(endpoint) ?? 0) < earlyTimeoutsMs.length;
    }
}

/**
 * Tries each endpoint every 2 s at most, and says in between what was found last: a server that is blocked takes no
 * connections out of its queue, and many of them would fill it.
 */
export class RareConnections {
    private readonly last = new Map<string, { at: number; accepted: boolean }>();

    /** @param connections if the attacks have not begun */
    async accepts(endpoint: string, connections?: EarlyConnections): Promise<boolean> {
        const last = this.last.get(endpoint);
        const at = performance.now();
        if (last && at - last.at < rarelyMs && !connections?.isEarly(endpoint)) return last.accepted;
        const accepted = await (connections ? connections.accepts(endpoint) : accepts(endpoint));
        this.last.set(endpoint, { at, accepted });
        return accepted;
    }
}
