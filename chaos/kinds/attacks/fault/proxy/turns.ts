import type { Selection } from "./protocol";

/** Of further clients, no request is hit: their number must not fill the memory. */
const maxClients = 10_000;

/** Says which of the requests that a fault is for are hit, as they come. */
export class Turns {
    private readonly counts = new Map<string, number>();
    private readonly hits = new Map<string, number>();

    /**
     * @param random from 0 to 1, without 1
     * @param served called when all the `first` of a client were hit
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
        return first === undefined ? turn % every! === 0 : turn <= first;
    }

    /** Notes that one that was to be hit has been hit: what is only limited may be too short for that. */
    wasHit(client: string): void {
        const { first, per } = this.selection;
        if (first === undefined || per !== "client") return;
        const hits = (this.hits.get(client) ?? 0) + 1;
        this.hits.set(client, hits);
        if (hits === first) this.served();
    }
}
