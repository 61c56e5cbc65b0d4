import type { ByteLimits, Effect } from "./protocol";

/** A slow answer trickles: so much of it goes at a time as takes this long, in milliseconds. */
const sliceMs = 50;
/** What is held for less, in total, nobody notices, in milliseconds. */
const feltMs = 50;

export interface Acting {
    /** Whether a fault is in effect now. */
    readonly acts: boolean;
    /** Whether it is not because its pulse is off. */
    readonly pauses: boolean;
}

/** Slows the bytes of one direction of a request, or of a connection of what has none, and cuts them off. */
export class Meter {
    private passed = 0;
    private heldMs = 0;
    private dueAt?: number;

    /** @param note called, maybe often, with what the limits have done */
    constructor(
        private readonly limits: ByteLimits,
        private readonly fault: Acting,
        private readonly note: (effect: Effect) => void = () => {},
    ) {}

    /**
     * What becomes of the next bytes.
     *
     * @param count how many there are
     * @param now in milliseconds
     * @returns how many of them go, after how many milliseconds. None: the connection is to be reset
     */
    next(count: number, now: number): { bytes: number; afterMs: number } {
        const { bytesPerSecond = Infinity, cutAfter = Infinity } = this.limits;
        if (!this.fault.acts) {
            if (this.fault.pauses) this.note("paused");
            this.passed += count;
            return { bytes: count, afterMs: 0 };
        }
        if (this.passed >= cutAfter) {
            this.note("cut");
            return { bytes: 0, afterMs: 0 };
        }
        const slice = Math.max(1, Math.floor((bytesPerSecond * sliceMs) / 1_000));
        const bytes = Math.min(count, slice, cutAfter - this.passed);
        this.passed += bytes;
        // A timer that fires late is made up for, and an idle time is not.
        this.dueAt = Math.max(this.dueAt ?? now, now - sliceMs) + (1_000 * bytes) / bytesPerSecond;
        const afterMs = Math.max(0, this.dueAt - now);
        this.heldMs += afterMs;
        if (this.heldMs >= feltMs) this.note("throttled");
        return { bytes, afterMs };
    }

    /** Whether bytes are to wait for their time. */
    get acts(): boolean {
        return this.fault.acts;
    }
}
