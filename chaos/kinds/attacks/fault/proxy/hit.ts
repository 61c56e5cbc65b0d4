import { type Acting, Meter } from "./meter";
import type { Effect, ProxyFault } from "./protocol";

/** What a fault does to one request, or to one connection of what has none. Each effect is counted once. */
export class Hit {
    /** Of its bytes. Undefined if the fault leaves them alone. */
    readonly meter?: Meter;
    private readonly noted = new Set<Effect>();

    constructor(
        readonly fault: ProxyFault,
        private readonly acting: Acting,
        private readonly count: (effect: Effect) => void,
    ) {
        const { bytesPerSecond, cutAfter } = fault;
        if (bytesPerSecond !== undefined || cutAfter !== undefined) this.meter = new Meter(fault, acting, this.note);
    }

    /** Whether it is delayed or aborted now. */
    begins(): boolean {
        const { delayMs, abort } = this.fault;
        const isHeld = Boolean(delayMs) || abort !== undefined;
        const { acts, pauses } = this.acting;
        if (pauses) this.note("paused");
        // What is only limited is hit once it is long enough.
        if (acts && (isHeld || this.meter === undefined)) this.note("faulted");
        return acts && isHeld;
    }

    private readonly note = (effect: Effect): void => {
        if (this.noted.has(effect)) return;
        this.noted.add(effect);
        this.count(effect);
        if (effect === "throttled" || effect === "cut") this.note("faulted");
    };
}
