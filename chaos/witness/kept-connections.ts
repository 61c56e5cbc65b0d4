import { connect, type Socket } from "node:net";
import { inodeOf, unansweredProbes } from "./keepalive";
import { apiServer, type KeptState } from "./protocol";
import { parseEndpoint } from "../values/endpoint";

/**
 * Time without a packet after which the kernel asks the other end for one. libuv sets 1 s between further probes, and
 * gives up after 10 of them: a dropped connection fails with ETIMEDOUT after 11 s.
 */
const probeAfterMs = 1_000;
/** One probe is unanswered for the time of a round trip. The second is sent when nothing has come for two seconds. */
const silentFrom = 2;
const connectTimeoutMs = 1_000;
const reopenAfterMs = 1_000;
/** The kernel's tables are not read more often: it walks all connections of the node for them. */
const readEveryMs = 500;

interface Kept {
    socket: Socket;
    inode: string | undefined;
    /** In milliseconds of `performance.now()`. */
    openedAt: number;
    /** How it came to its end. */
    over?: "lost" | "ended";
    /** Whether `states` has told that. */
    told?: boolean;
}

/**
 * TCP connections that stay open. Nothing is written to them, since their servers' protocols are unknown: the kernel's
 * keepalive probes, which no server notices, show whether packets still come through.
 */
export class KeptConnections {
    private readonly kept = new Map<string, Kept>();
    private unanswered = new Map<string, number>();
    private readAt = -Infinity;

    /** The state of each connection, by name. A connection of which the system says nothing is left out. */
    states(): Record<string, KeptState> {
        if (this.kept.size > 0 && performance.now() - this.readAt >= readEveryMs) {
            this.readAt = performance.now();
            const listed = unansweredProbes();
            // While a probe's timer fires, the kernel lists none: what it said half a second ago still holds then.
            const known = [...this.kept.values()].flatMap(({ inode = "" }) => {
                const probes = listed.get(inode) ?? this.unanswered.get(inode);
                return probes === undefined ? [] : [[inode, probes] as const];
            });
            this.unanswered = new Map(known);
        }
        const states: Record<string, KeptState> = {};
        for (const [name, kept] of this.kept) {
            const probes = this.unanswered.get(kept.inode ?? "");
            if (kept.over) states[name] = kept.over;
            else if (probes !== undefined) states[name] = probes < silentFrom ? "answering" : "silent";
            kept.told = kept.over !== undefined;
        }
        return states;
    }

    /** Whether a connection may be opened: there is none, or the end of the last one was told and is a while ago. */
    lacks(name: string): boolean {
        const kept = this.kept.get(name);
        return !kept || (kept.told === true && performance.now() - kept.openedAt >= reopenAfterMs);
    }

    /** Opens a connection in place of the one of that name. @returns whether that worked; if not, the old one stays */
    open(name: string, endpoint: string): Promise<boolean> {
        return new Promise((resolve) => {
            const socket = connect({ ...parseEndpoint(endpoint), timeout: connectTimeoutMs });
            let kept: Kept | undefined;
            const over = (how: NonNullable<Kept["over"]>) => {
                if (kept) kept.over ??= how;
                resolve(false);
            };
            socket
                .once("connect", () => {
                    socket.setTimeout(0).setKeepAlive(true, probeAfterMs);
                    this.drop(name);
                    kept = { socket, inode: inodeOf(socket), openedAt: performance.now() };
                    this.kept.set(name, kept);
                    this.readAt = -Infinity;
                    resolve(true);
                })
                .once("end", () => over("ended"))
                .once("error", () => over("lost"))
                .once("timeout", () => {
                    socket.destroy();
                    resolve(false);
                })
                // What the server sends is not read, but must not stop its end from being seen.
                .resume();
        });
    }

    drop(name: string): void {
        this.kept.get(name)?.socket.destroy();
        this.kept.delete(name);
    }

    /**
     * Opens a connection to each target that lacks one, to its first endpoint that accepts fresh ones, and closes those
     * to former targets. A connection is named after its endpoint.
     *
     * @param targets the endpoints of each
     */
    async keep(targets: readonly (readonly string[])[], accepts: (endpoint: string) => boolean): Promise<void> {
        const wanted = new Set(targets.flat());
        for (const name of this.kept.keys()) {
            if (name !== apiServer && !wanted.has(name)) this.drop(name);
        }
        const openTo = async (endpoints: readonly string[]) => {
            if (!endpoints.every((endpoint) => this.lacks(endpoint))) return;
            const first = endpoints.find(accepts);
            if (first === undefined || !(await this.open(first, first))) return;
            for (const other of endpoints) if (other !== first) this.drop(other);
        };
        await Promise.all(targets.map(openTo));
    }
}
