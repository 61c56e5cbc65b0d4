import { type Matchable, matcherOf } from "./matcher";
import type { ProxyFault } from "./protocol";

/** Which requests and connections are faulted, and how. */
export class Faults {
    /** Whether there are no more faults. */
    over = false;
    /** Whether only HTTP/1.1 in clear text can be faulted: nothing else has a status, or what is matched. */
    readonly needsHttp: boolean;
    /** Whether the match includes a request, whichever pod it goes to. */
    readonly means: (request: Matchable) => boolean;
    private readonly targets: ReadonlySet<string>;

    /** @param random a number from 0 to 1, without 1. @default Math.random */
    constructor(
        private readonly fault: ProxyFault,
        targets: readonly string[],
        private readonly random: () => number = Math.random,
    ) {
        this.targets = new Set(targets);
        this.means = fault.match ? matcherOf(fault.match) : () => true;
        this.needsHttp = fault.match !== undefined || typeof fault.abort === "number";
    }

    /** Whether the match leaves out some requests. */
    get hasMatch(): boolean {
        return this.fault.match !== undefined;
    }

    /** Throws the dice for a request to a pod, or for a connection. Undefined if it is to be passed on as it is. */
    draw(uid: string): ProxyFault | undefined {
        const fault = this.to(uid);
        return fault && this.random() * 100 < fault.percentage ? fault : undefined;
    }

    /** What happens to those requests to a pod that the dice hit. */
    to(uid: string): ProxyFault | undefined {
        return !this.over && this.targets.has(uid) ? this.fault : undefined;
    }
}
