import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A proxy to a local port that simulates network faults. */
export class Way {
    private readonly pairs = new Set<[Socket, Socket]>();
    private dropping = false;

    private constructor(private readonly server: Server) {}

    static async to(target: number): Promise<Way> {
        const server = createServer({ pauseOnConnect: true });
        const way = new Way(server);
        server.on("connection", (near: Socket) => way.join(near, connect(target, "127.0.0.1")));
        await once(server.listen(0, "127.0.0.1"), "listening");
        return way;
    }

    get port(): number {
        return (this.server.address() as AddressInfo).port;
    }

    /** Drops all packets, silently. */
    drop(): void {
        this.dropping = true;
        this.pairs.forEach(([near, far]) => {
            near.unpipe().pause();
            far.unpipe().pause();
        });
    }

    /** Delivers packets again, also the dropped ones, because TCP repeats those. */
    restore(): void {
        if (!this.dropping) return;
        this.dropping = false;
        this.pairs.forEach(([near, far]) => near.pipe(far).pipe(near));
    }

    /** Closes all connections, as a server that exits does. */
    end(): void {
        this.pairs.forEach(([near]) => near.unpipe().end());
    }

    close(): void {
        this.server.close();
        this.pairs.forEach(([near]) => near.destroy());
    }

    private join(near: Socket, far: Socket): void {
        const pair: [Socket, Socket] = [near, far];
        this.pairs.add(pair);
        for (const [socket, other] of [pair, [far, near]] as const) {
            socket.on("error", () => undefined);
            socket.once("close", () => {
                this.pairs.delete(pair);
                other.destroy();
            });
        }
        if (!this.dropping) near.pipe(far).pipe(near);
    }
}
