import type { Socket } from "node:net";
import { Bytes } from "./bytes";
import type { Changes } from "./changes";

/** A wire reads on while it holds less than this, in bytes. One read is at most as much again. */
export const readAheadBytes = 65_536;

/** A side of the connection is gone: nothing can be passed on any more. */
export class Gone extends Error {
    override name = "Gone";
}

/**
 * One side of a connection: a socket whose bytes are taken when they are needed. It reads on meanwhile, up to
 * `readAheadBytes`, since only reading shows that the other end is gone.
 *
 * The socket must have been made with `allowHalfOpen`.
 */
export class Wire {
    /** Whether the other end sends no more. There may still be bytes to take. */
    ended = false;
    /** Whether the socket is closed, in both directions. */
    closed: boolean;
    private readonly held = new Bytes();

    /**
     * @param holds called with the number of bytes that the process holds more for the connection, negative if it holds
     *   fewer
     */
    constructor(
        readonly socket: Socket,
        private readonly changes: Changes,
        private readonly holds: (bytes: number) => void = () => {},
    ) {
        // A socket may be closed before anybody listens to it.
        this.closed = socket.destroyed;
        socket.setNoDelay(true);
        socket.on("data", (chunk: Buffer) => {
            this.held.add(chunk);
            holds(chunk.length);
            if (this.available >= readAheadBytes) socket.pause();
            changes.notify();
        });
        socket.on("end", () => {
            this.ended = true;
            changes.notify();
        });
        socket.on("close", () => {
            this.closed = true;
            changes.notify();
        });
        socket.on("connect", changes.notify);
        // What follows an error is the event `close`.
        socket.on("error", () => {});
    }

    /** How many bytes are there to be taken. */
    get available(): number {
        return this.held.length;
    }

    /** Whether the other end sends no more, and all was taken. */
    get exhausted(): boolean {
        return this.ended && this.available === 0;
    }

    /** All bytes that are there. They stay. */
    peek(): Buffer {
        return this.held.peek();
    }

    /** Takes bytes that are there. @param atMost how many. @default some, as they are held */
    take(atMost?: number): Buffer {
        const chunk = this.held.take(atMost);
        this.holds(-chunk.length);
        if (this.available < readAheadBytes) this.socket.resume();
        return chunk;
    }

    /**
     * Waits for bytes.
     *
     * @param to where they are to go: if it is closed, there is nothing to wait for
     * @returns whether there are some; false if the other end sends no more
     * @throws Gone
     */
    async fill(to?: Wire): Promise<boolean> {
        await this.changes.until(() => this.available > 0 || this.ended || this.closed || to?.closed === true);
        if (to?.closed) throw new Gone();
        if (this.available > 0) return true;
        if (!this.ended) throw new Gone();
        return false;
    }

    /** Sends bytes, and waits until the kernel has taken all of them. @throws Gone */
    async write(chunk: Buffer | string): Promise<void> {
        const { socket } = this;
        if (!this.closed) socket.write(chunk, this.changes.notify);
        const waits = () => !this.closed && socket.writableLength > 0;
        if (waits()) {
            this.holds(chunk.length);
            await this.changes.until(() => !waits());
            this.holds(-chunk.length);
        }
        if (this.closed) throw new Gone();
    }

    /** Sends no more. Bytes may still come. */
    end(): void {
        if (!this.socket.writableEnded) this.socket.end();
    }

    /** Closes the connection at once, with a RST. Does nothing if it is closed. */
    reset(): void {
        // A socket that connects would go on until it has.
        if (this.socket.connecting) this.socket.destroy();
        else if (!this.socket.destroyed) this.socket.resetAndDestroy();
    }

    /** Drops what was received, now and from now on, until the other end sends no more or a condition holds. */
    async discardUntil(holds: () => boolean): Promise<void> {
        const over = () => this.exhausted || this.closed || holds();
        while (!over()) {
            await this.changes.until(() => this.available > 0 || over());
            this.holds(-this.available);
            this.held.clear();
            this.socket.resume();
        }
    }
}

/** Passes everything on from one side to the other, its end too. @throws Gone */
export async function pump(from: Wire, to: Wire): Promise<void> {
    while (await from.fill(to)) await to.write(from.take());
    to.end();
}
