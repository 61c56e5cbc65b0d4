import { Hit } from "./hit";
import { type Matchable, matcherOf } from "./matcher";
import type { Acting } from "./meter";
import { type Effect, grpcStatusOf, needsHttp, type ProxyFault } from "./protocol";
import { Turns } from "./turns";

/** What else a proxy knows of its fault. */
export interface FaultContext {
    /** From 0 to 1, without 1. @default Math.random */
    random?: () => number;
    /** Since when answers count, in milliseconds of `performance.now()`. Undefined as long as they do not. */
    countingSince?: () => number | undefined;
    /** Called when all the `first` of a client were hit. */
    served?: () => void;
}

/** Says what becomes of requests and connections. */
export class Faults implements Acting {
    over = false;
    readonly needsHttp: boolean;
    /** Whether only gRPC in clear text can be faulted: nothing else has its status. */
    readonly needsGrpc: boolean;
    /** Whether the match includes a request. The pod that it goes to does not count. */
    readonly means: (request: Matchable) => boolean;
    private readonly targets: ReadonlySet<string>;
    private readonly turns: Turns;
    private readonly countingSince: () => number | undefined;

    constructor(
        private readonly fault: ProxyFault,
        targets: readonly string[],
        { random = Math.random, countingSince = () => undefined, served }: FaultContext = {},
    ) {
        this.targets = new Set(targets);
        this.means = fault.match ? matcherOf(fault.match) : () => true;
        this.needsGrpc = grpcStatusOf(fault.abort) !== undefined;
        this.needsHttp = needsHttp(fault);
        this.turns = new Turns(fault, random, served);
        this.countingSince = countingSince;
    }

    get hasMatch(): boolean {
        return this.fault.match !== undefined;
    }

    /** Whether it is in effect now. */
    get acts(): boolean {
        return !this.over && this.isOn !== false;
    }

    /** Whether it is not because its pulse is off. */
    get pauses(): boolean {
        return !this.over && this.isOn === false && this.countingSince() !== undefined;
    }

    /** Whether the pulse is on: from when answers count, then off, and so on. Undefined without a pulse. */
    private get isOn(): boolean | undefined {
        const { pulse } = this.fault;
        if (!pulse) return undefined;
        const since = this.countingSince() ?? Infinity;
        return (performance.now() - since) % (pulse.onMs + pulse.offMs) < pulse.onMs;
    }

    /**
     * Whether the next request to a pod, or the next connection, is hit. Undefined if it is passed on as it is.
     *
     * @param client address of its caller
     * @param count called with each effect that the fault has on it
     */
    draw(uid: string, client: string, count: (effect: Effect) => void): Hit | undefined {
        const fault = this.to(uid);
        if (fault === undefined || (fault.first !== undefined && this.countingSince() === undefined)) return undefined;
        if (!this.turns.next(client)) return undefined;
        return new Hit(fault, this, (effect) => {
            if (effect === "faulted") this.turns.wasHit(client);
            count(effect);
        });
    }

    /** What becomes of requests to a pod that are hit. */
    to(uid: string): ProxyFault | undefined {
        return !this.over && this.targets.has(uid) ? this.fault : undefined;
    }
}
