import { connect } from "node:net";
import { READINESS_TIMEOUT_MS } from "./health";

/** How often somebody who is relied on is tried, in milliseconds. */
const WATCH_INTERVAL_MS = 1_000;

export interface Watch {
    /** Whether the last try succeeded; true before the first. */
    reachable(): boolean;
    stop(): void;
}

/**
 * Tries once a second, over a fresh connection, whether somebody can be reached, and says when not.
 *
 * For programs that keep connections: one that is established lives on under a new NetworkPolicy (the specification
 * leaves that open; kube-router, Calico and Antrea let it), so a program would go on talking to somebody who is cut off
 * from everybody else, and nobody would learn what an isolation does.
 *
 * @param check opens a fresh connection; throws if it cannot, within a second
 * @param lost called after each try that failed; ends the kept connections
 */
export function watch(check: () => Promise<void>, lost: () => void): Watch {
    let reachable = true;
    let busy = false;
    const timer = setInterval(async () => {
        if (busy) return;
        busy = true;
        try {
            await check();
            reachable = true;
        } catch {
            reachable = false;
            lost();
        } finally {
            busy = false;
        }
    }, WATCH_INTERVAL_MS);
    return { reachable: () => reachable, stop: () => clearInterval(timer) };
}

/** Opens a TCP connection and closes it again; throws if there is none within 800 ms. */
export function checkPort(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
        const socket = connect({ host, port });
        const timer = setTimeout(
            () => socket.destroy(new Error(`no connection within ${READINESS_TIMEOUT_MS} ms`)),
            READINESS_TIMEOUT_MS,
        );
        socket.once("connect", () => {
            resolve();
            socket.destroy();
        });
        socket.once("error", reject);
        socket.once("close", () => clearTimeout(timer));
    });
}
