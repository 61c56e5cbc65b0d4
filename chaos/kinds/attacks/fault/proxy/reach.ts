import { connect } from "node:net";
import { inTurns } from "../../../../values/async";
import type { ProxyPort, ReachReport, Tried } from "./protocol";
import type { PodEndpoint, Pods } from "./slices";

const withinMs = 1_000;
const maxTrying = 100;

/** Finds out whether the proxy reaches the pods of its Service: callers would lose those that it does not reach. */
export class Reach {
    private readonly tried = new Map<string, Tried>();
    private written = "";

    constructor(
        private readonly pods: Pods,
        private readonly ports: readonly ProxyPort[],
    ) {}

    async look(write: (line: string) => void): Promise<void> {
        const missing = this.ports.flatMap(({ name, listen }) =>
            this.pods
                .ready(name)
                .filter(({ uid }) => this.tried.get(`${uid} ${listen}`)?.saw !== "connected")
                .map((endpoint) => ({ endpoint, listen })),
        );
        await inTurns(missing, maxTrying, async ({ endpoint, listen }) => {
            const { uid, pod = uid } = endpoint;
            this.tried.set(`${uid} ${listen}`, { pod, listen, saw: await knock(endpoint) });
        });
        const line = `${JSON.stringify({ reach: [...this.tried.values()] } satisfies ReachReport)}\n`;
        if (line !== this.written) write(line);
        this.written = line;
    }
}

function knock({ address: host, port }: PodEndpoint): Promise<Tried["saw"]> {
    return new Promise((resolve) => {
        const socket = connect({ host, port, timeout: withinMs });
        const end = (saw: Tried["saw"]) => {
            socket.destroy();
            resolve(saw);
        };
        socket
            .once("connect", () => end("connected"))
            .once("timeout", () => end("silent"))
            // If there is no way to the pod, no answer comes either.
            .once("error", ({ code }: NodeJS.ErrnoException) => end(code === "ECONNREFUSED" ? "refused" : "silent"));
    });
}
