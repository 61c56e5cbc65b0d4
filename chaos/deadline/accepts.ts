import { connect } from "node:net";
import { parseEndpoint } from "./protocol";

const connectTimeoutMs = 1_000;

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
