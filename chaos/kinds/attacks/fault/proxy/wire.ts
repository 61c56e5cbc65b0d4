import type { Socket } from "node:net";
import { Bytes } from "./bytes";
import type { Meter } from "./meter";

/**
 * Wakes a connection's tasks when something has changed, so that they look again. One for all of its sockets and
 * timers, because a race of promises would leave something behind in each promise that outlives it, such as that of the
 * proxy's end.
 */
export class Changes {
    private waiting: (() => void)[] = [];

    readonly notify = (): void => {
        const woken = this.waiting;
        this.waiting = [];
        for (const wake of woken) wake();
    };

    /** Looks whether a condition holds, now and at each change. */
    async until(holds: () => boolean): Promise<void> {
        while (!holds()) await new Promise<void>((resolve) => this.waiting.push(resolve));
    }

    /** @returns whether the condition holds in time */
    async untilWithin(ms: number, holds: () => boolean): Promise<boolean> {
        let over = false;
        const timer = setTimeout(() => {
            over = true;
            this.notify();
        }, ms);
        await this.until(() => over || holds());
        clearTimeout(timer);
        return holds();
    }
}

/** A wire reads on while it holds fewer bytes than this. One read is at most as much again. */
export const readAheadBytes = 65_536;

/**
 * So long after the last bytes comes the RST that cuts them off, in milliseconds. It drops what the kernel has not
 * sent, and clients that read both at once, as Node.js does, would take it for an ordinary end.
 */
export const beforeCutMs = 50;

export class Gone extends Error {
    override name = "Gone";
}

/**
 * One side of a connection: a socket whose bytes are taken when they are needed. Meanwhile it reads on, up to
 * `readAheadBytes`, since only reading shows that the other end is gone. The socket must have been made with
 * `allowHalfOpen`.
 */
export class Wire {
    /** Whether the other end sends no more. There may still be bytes to take. */
    ended = false;
    /** In both directions. */
    closed: boolean;
    /** Limits what is written. Undefined if it goes as fast as the other end takes it. */
    meter?: Meter;
    private readonly held = new Bytes();

    /**
     * @param holds called with the number of bytes that the process holds more for the connection, or fewer if it is
     *     negative
     */
    constructor(
        readonly socket: Socket,
        private readonly changes: Changes,
        private readonly holds: (bytes: number) => void = () => {},
    ) {
        // A socket may be closed before anybody listens to it.
        this.closed = socket.destroyed;
        socket.setNoDelay(true);
        socket.on("data", this.receive);
        socket.on("end", () => {
            this.ended = true;
            changes.notify();
        });
        socket.on("close", () => {
            this.closed = true;
            changes.notify();
        });
        socket.on("connect", changes.notify);
        // The event `close` follows an error.
        socket.on("error", () => {});
    }

    private readonly receive = (chunk: Buffer): void => {
        this.held.add(chunk);
        this.holds(chunk.length);
        if (this.available >= readAheadBytes) this.socket.pause();
        this.changes.notify();
    };

    /**
     * Leaves all further reading and writing to somebody else, beginning with the bytes that were not taken. `closed`
     * and `reset` go on. The socket is no longer half-open: it ends when the other end does.
     */
    release(): Socket {
        const { socket } = this;
        socket.off("data", this.receive).pause();
        this.holds(-this.available);
        if (this.available > 0) socket.unshift(this.peek());
        this.held.clear();
        socket.allowHalfOpen = false;
        return socket;
    }

    get available(): number {
        return this.held.length;
    }

    /** Whether the other end sends no more, and all was taken. */
    get exhausted(): boolean {
        return this.ended && this.available === 0;
    }

    peek(): Buffer {
        return this.held.peek();
    }

    /** @param atMost how many bytes. @default some, as they are held */
    take(atMost?: number): Buffer {
        const chunk = this.held.take(atMost);
        this.holds(-chunk.length);
        if (this.available < readAheadBytes) this.socket.resume();
        return chunk;
    }

    /**
     * Waits for bytes.
     *
     * @param to where they are to go: if that is closed, there is nothing to wait for
     * @returns false if the other end sends no more
     * @throws Gone
     */
    async fill(to?: Wire): Promise<boolean> {
        await this.changes.until(() => this.available > 0 || this.ended || this.closed || to?.closed === true);
        if (to?.closed) throw new Gone();
        if (this.available > 0) return true;
        if (!this.ended) throw new Gone();
        return false;
    }

    /** Waits until the kernel has taken all of the bytes. @throws Gone, also if the meter cuts them off */
    async write(chunk: Buffer | string): Promise<void> {
        const { meter } = this;
        if (meter === undefined) return this.send(chunk);
        let left = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
        this.holds(left.length);
        try {
            while (left.length > 0) {
                const { bytes, afterMs } = meter.next(left.length, performance.now());
                if (bytes === 0) throw await this.cut();
                if (afterMs > 0) await this.changes.untilWithin(afterMs, () => this.closed || !meter.acts);
                await this.send(left.subarray(0, bytes));
                this.holds(-bytes);
                left = left.subarray(bytes);
            }
        } finally {
            this.holds(-left.length);
        }
    }

    private async cut(): Promise<Gone> {
        await this.changes.untilWithin(beforeCutMs, () => this.closed);
        this.reset();
        return new Gone();
    }

    private async send(chunk: Buffer | string): Promise<void> {
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

    end(): void {
        if (!this.socket.writableEnded) this.socket.end();
    }

    /** Closes the connection at once, with a RST. */
    reset(): void {
        // Until it is connected, a socket cannot be reset.
        if (this.socket.connecting) this.socket.destroy();
        else if (!this.socket.destroyed) this.socket.resetAndDestroy();
    }

    /** Drops all that comes until the other end sends no more, or a condition holds. */
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

/** Passes everything on from one side to the other, and then its end. @throws Gone */
export async function pump(from: Wire, to: Wire): Promise<void> {
    while (await from.fill(to)) await to.write(from.take());
    to.end();
}
