import { connect } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { inTurns } from "../../../../values/async";
import type { ProxyPort, ReachReport, Tried } from "./protocol";
import type { PodEndpoint, Pods } from "./slices";

const withinMs = 1_000;
const maxTrying = 100;

/** Finds out whether the proxy reaches the pods of its Service: callers would lose those that it does not reach. */
export class Reach {
    private readonly tried = new Map<string, Tried>();
    private written = "";

    /** @param readsRequests whether to ask for TLS, too: what is encrypted cannot be read */
    constructor(
        private readonly pods: Pods,
        private readonly ports: readonly ProxyPort[],
        private readonly readsRequests = false,
    ) {}

    async look(write: (line: string) => void): Promise<void> {
        const missing = this.ports.flatMap(({ name, listen }) =>
            this.pods
                .ready(name)
                .filter(({ uid }) => !isReached(this.tried.get(`${uid} ${listen}`)?.saw))
                .map((endpoint) => ({ endpoint, listen })),
        );
        await inTurns(missing, maxTrying, async ({ endpoint, listen }) => {
            const { uid, pod = uid } = endpoint;
            const knocked = await knock(endpoint);
            const isEncrypted = this.readsRequests && knocked === "connected" && (await answersInTls(endpoint));
            this.tried.set(`${uid} ${listen}`, { pod, listen, saw: isEncrypted ? "encrypted" : knocked });
        });
        const line = `${JSON.stringify({ reach: [...this.tried.values()] } satisfies ReachReport)}\n`;
        if (line !== this.written) write(line);
        this.written = line;
    }
}

const isReached = (saw: Tried["saw"] | undefined) => saw === "connected" || saw === "encrypted";

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

/** Whether a port answers the hello of TLS, or rejects it as only TLS does. To all other servers it means nothing. */
function answersInTls({ address: host, port }: PodEndpoint): Promise<boolean> {
    return new Promise((resolve) => {
        const socket = connectSecurely({ host, port, timeout: withinMs, rejectUnauthorized: false });
        const end = (does: boolean) => {
            socket.destroy();
            resolve(does);
        };
        socket
            .once("secureConnect", () => end(true))
            .once("timeout", () => end(false))
            .once("close", () => end(false))
            .on("error", ({ message }: Error) => end(/\balert\b/i.test(message)));
    });
}
