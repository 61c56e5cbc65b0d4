import type { Selection } from "./protocol";

/** Of further clients, no request is hit: their number must not fill the memory. */
const maxClients = 10_000;

/** Says which of the requests that a fault is for are hit, as they come. */
export class Turns {
    private readonly counts = new Map<string, number>();

    /**
     * @param random from 0 to 1, without 1
     * @param served called when a client has had all of its `first`
     */
    constructor(
        private readonly selection: Selection,
        private readonly random: () => number,
        private readonly served: () => void = () => {},
    ) {}

    /** Whether the next request is hit. @param client address of its caller */
    next(client: string): boolean {
        const { percentage, first, every, per } = this.selection;
        if (first === undefined && every === undefined) return this.random() * 100 < percentage;
        const counted = per === "client" ? client : "";
        if (!this.counts.has(counted) && this.counts.size === maxClients) return false;
        const turn = (this.counts.get(counted) ?? 0) + 1;
        this.counts.set(counted, turn);
        if (turn === first && per === "client") this.served();
        return first === undefined ? turn % every! === 0 : turn <= first;
    }
}
