import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { answerProbe } from "./answer-probe";
import { Changes, Gone } from "./wire";
import { Connection, keepAlive, serveOpaque, type Shared } from "./connection";
import { Counts, log } from "./counts";
import { Faults } from "./faults";
import { Crowd } from "./crowd";
import { serveHttp2 } from "./http2";
import { beginsHttp2 } from "./http2-beginning";
import { nextRequest, Refused, refuseAsServer, serveHttp } from "./http";
import { drainMs, type Limits, limits as usualLimits, type ProxyFault, type ProxyPort } from "./protocol";
import type { Pods } from "./slices";

export interface ProxyArgs {
    run: string;
    ports: readonly ProxyPort[];
    fault: ProxyFault;
    targets: readonly string[];
    pass: string;
    /** What connects from one of these is a probe of the witness. */
    witness: Pods;
    pods: Pods;
    /** Whether the Service still leads to this proxy. Then only this proxy serves its callers. */
    isPointedTo: () => boolean;
    /** @default Math.random */
    random?: () => number;
    /** @default `limits` */
    limits?: Limits;
}

/** Times in milliseconds, since a proxy was stopped and its Service no longer leads to it. */
export interface StopTimes {
    /** How long connections are accepted: until all nodes know where the Service leads now. @default 3000 */
    acceptMs?: number;
    /** When the last connections are closed. @default 30000 */
    closeMs?: number;
}

const lookMs = 50;

/** Forwards the connections to a Service, as the Service did, and faults what goes to the chosen pods. */
export class Proxy {
    readonly counts = new Counts();
    private readonly servers: Server[] = [];
    private readonly crowd: Crowd<Connection>;
    private readonly changes = new Changes();
    private readonly shared: Shared;
    private stopped?: Promise<void>;

    constructor(private readonly args: ProxyArgs) {
        const { run, pass, pods, fault, targets, random, limits = usualLimits } = args;
        const { counts } = this;
        this.crowd = new Crowd(() => counts.refuse(), limits);
        const faults = new Faults(fault, targets, {
            random,
            countingSince: () => pods.countingSince,
            served: () => counts.serve(),
        });
        this.shared = { run, pass, pods, counts, limits, crowd: this.crowd, faults, closesIdle: false };
    }

    get ready(): boolean {
        const { ports, pods, witness } = this.args;
        return (
            pods.listed &&
            witness.listed &&
            this.servers.length === ports.length &&
            this.servers.every(({ listening }) => listening)
        );
    }

    /**
     * Listens on all addresses of both families, or of IPv4 alone if there is no IPv6. @returns the ports in the order
     * of their definition, as the kernel has chosen those that are 0
     */
    async listen(): Promise<number[]> {
        const ports = this.args.ports.map(async ({ name, listen }) => {
            const server = createServer({ allowHalfOpen: true, noDelay: true, ...keepAlive }, (socket) =>
                this.accept(socket, name),
            );
            this.servers.push(server);
            // If it were the default of 511, callers that come all at once would have to try again for seconds.
            await once(server.listen({ port: listen, backlog: usualLimits.connections }), "listening");
            server.on("error", log);
            return (server.address() as { port: number }).port;
        });
        return Promise.all(ports);
    }

    /**
     * Ends the faults at once, and resolves when no connection is left. As long as the Service leads here, connections
     * are accepted: this pod may be deleted before the API server allows the Service to be restored.
     */
    stop(times: StopTimes = {}): Promise<void> {
        return (this.stopped ??= this.drain(times));
    }

    private async drain({ acceptMs = 3_000, closeMs = drainMs }: StopTimes): Promise<void> {
        this.shared.faults.over = true;
        this.notifyAll();
        let pointedAt = performance.now();
        for (; performance.now() - pointedAt < acceptMs; await sleep(lookMs))
            if (this.args.isPointedTo()) pointedAt = performance.now();
        for (const server of this.servers) server.close();
        // Idle connections close only now, because a caller may be about to use one. Most close with their next answer.
        this.shared.closesIdle = true;
        this.notifyAll();
        const leftMs = Math.max(0, pointedAt + closeMs - performance.now());
        await this.changes.untilWithin(leftMs, () => this.crowd.members.size === 0);
        for (const connection of this.crowd.members) connection.giveUp();
    }

    private notifyAll(): void {
        for (const { changes } of this.crowd.members) changes.notify();
    }

    private accept(socket: Socket, port: string): void {
        const connection = new Connection(socket, this.shared);
        if (!this.crowd.admits(connection)) return connection.reset();
        void this.serve(connection, port)
            .catch((error: unknown) => {
                if (error instanceof Refused) return refuseAsServer(connection, error);
                throw error;
            })
            .catch((error: unknown) => {
                if (!(error instanceof Gone)) log(error);
            })
            .finally(() => {
                connection.reset();
                this.crowd.leave(connection);
                this.changes.notify();
            });
    }

    private async serve(connection: Connection, port: string): Promise<void> {
        if (connection.address === undefined) return;
        if (this.args.witness.has(connection.address)) return answerProbe(connection, port);
        const pod = this.args.pods.choose(port);
        if (!pod) return;
        await connection.reach(pod);
        const request = await nextRequest(connection);
        if (request) await serveHttp(connection, request);
        else if (beginsHttp2(connection.caller.peek())) await serveHttp2(connection);
        else if (connection.caller.available > 0 || connection.pod.available > 0) await serveOpaque(connection);
        else if (this.shared.closesIdle && !connection.podStirs && !connection.caller.ended) await connection.close();
        else await connection.tunnel();
    }
}
