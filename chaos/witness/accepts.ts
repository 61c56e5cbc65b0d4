import { connect } from "node:net";
import { parseEndpoint } from "../values/endpoint";

const connectTimeoutMs = 1_000;
const rarelyMs = 2_000;

/** Whether a fresh connection is accepted. */
export function accepts(endpoint: string): Promise<boolean> {
    return new Promise((resolve) => {
        const socket = connect({ ...parseEndpoint(endpoint), timeout: connectTimeoutMs });
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
 * Tries each endpoint every 2 s at most, and says in between what was found last: a server that is blocked takes no
 * connections out of its queue, and many of them would fill it.
 */
export class RareConnections {
    private readonly last = new Map<string, { at: number; accepted: boolean }>();

    async accepts(endpoint: string): Promise<boolean> {
        const last = this.last.get(endpoint);
        const at = performance.now();
        if (last && at - last.at < rarelyMs) return last.accepted;
        const accepted = await accepts(endpoint);
        this.last.set(endpoint, { at, accepted });
        return accepted;
    }
}
