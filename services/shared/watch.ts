import { connect } from "node:net";
import { READINESS_TIMEOUT_MS } from "./health";
import { lateError } from "./time";

const WATCH_INTERVAL_MS = 1_000;

/**
 * Checks a dependency once a second over a fresh connection.
 *
 * For programs that keep connections. An established one survives a new NetworkPolicy (the specification leaves that
 * open; in kube-router, Calico and Antrea it does), so the program would keep using an isolated dependency, and the
 * isolation would have no effect.
 *
 * @param check opens a fresh connection; rejects within a second if it cannot
 * @param lost called after each failed check; ends the kept connections
 */
export function watch(check: () => Promise<void>, lost: () => void) {
    let reachable = true;
    let busy = false;
    const run = async () => {
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
    };
    const timer = setInterval(() => void run(), WATCH_INTERVAL_MS);
    return {
        /** Whether the last check succeeded; true before the first. */
        reachable: () => reachable,
        stop: () => clearInterval(timer),
    };
}

/**
 * Opens and closes a TCP connection; rejects if that takes longer than 800 ms.
 *
 * @param greeting if given, is sent, and an answer counts instead of the connection
 */
export function checkPort(host: string, port: number, greeting?: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
        const done = () => {
            resolve();
            socket.destroy();
        };
        const socket = connect({ host, port }, () => (greeting ? socket.write(greeting) : done()));
        const timeout = () => socket.destroy(lateError(READINESS_TIMEOUT_MS));
        const timer = setTimeout(timeout, READINESS_TIMEOUT_MS);
        socket.once("data", done);
        socket.once("error", reject);
        socket.once("close", () => {
            clearTimeout(timer);
            reject(new Error("a fresh connection was closed without an answer"));
        });
    });
}
