/**
 * What a proxy takes from all of its callers together. Past that it closes one connection, chosen so that a caller that
 * takes much does not disturb one that takes little.
 */
import type { Limits } from "./protocol";

export interface Member {
    readonly address: string | undefined;
    /** Whether no request is on its way: it waits for the head of one, or has been answered. */
    readonly idle: boolean;
    /** When something of it was last passed on, or a head began, as of `performance.now()`. */
    readonly movedAt: number;
    /** Bytes that were read from it, or from its pod, and not yet passed on. */
    readonly heldBytes: number;
    reset(): void;
}

export class Crowd<M extends Member = Member> {
    readonly members = new Set<M>();
    private heldBytes = 0;

    /** @param shed called if a connection is closed that was not idle */
    constructor(
        private readonly shed: () => void,
        private readonly most: Pick<Limits, "connections" | "heldBytes">,
    ) {}

    /** Makes room for another connection. @returns false if there is none for it */
    admits(newcomer: M): boolean {
        if (this.members.size >= this.most.connections && !this.makeRoom(newcomer.address)) {
            this.shed();
            return false;
        }
        this.members.add(newcomer);
        return true;
    }

    leave(member: M): void {
        if (this.members.delete(member)) this.heldBytes -= member.heldBytes;
    }

    holds(member: M, bytes: number): void {
        if (!this.members.has(member)) return;
        this.heldBytes += bytes;
        while (this.heldBytes > this.most.heldBytes) this.shedHeaviest();
    }

    /**
     * Closes an idle connection of the caller that has the most, else one of a caller that has more than the newcomer.
     */
    private makeRoom(address: string | undefined): boolean {
        const counts = new Map<string | undefined, number>();
        for (const one of this.members) counts.set(one.address, (counts.get(one.address) ?? 0) + 1);
        const ofCaller = (one: M) => counts.get(one.address)!;
        const idle = mostOf(this.members, (one) => (one.idle ? ofCaller(one) : 0));
        const own = counts.get(address) ?? 0;
        const victim = idle ?? mostOf(this.members, (one) => (ofCaller(one) > own + 1 ? ofCaller(one) : 0));
        if (victim === undefined) return false;
        if (!victim.idle) this.shed();
        this.close(victim);
        return true;
    }

    /** Closes the connection that has held the most bytes for the longest: a slow caller does both. */
    private shedHeaviest(): void {
        const now = performance.now();
        const victim = mostOf(this.members, (one) => one.heldBytes * (1 + now - one.movedAt));
        if (victim === undefined) return;
        if (!victim.idle) this.shed();
        this.close(victim);
    }

    private close(victim: M): void {
        this.leave(victim);
        victim.reset();
    }
}

/** The one with the highest weight above 0, and of several the oldest: a set keeps the order of insertion. */
function mostOf<M>(members: Iterable<M>, weightOf: (one: M) => number): M | undefined {
    let [heaviest, most]: [M | undefined, number] = [undefined, 0];
    for (const one of members) {
        const weight = weightOf(one);
        if (weight > most) [heaviest, most] = [one, weight];
    }
    return heaviest;
}
