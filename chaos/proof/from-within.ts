import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../cluster/client";
import { groupedBy } from "../values/grouped";
import { lookUp, noAddress } from "./hosts";
import type { Look } from "./judge";
import { tryWithin } from "./try-within";
import type { TrialWithin } from "./trials";

/** A lookup must work under attack, and may take longer than a connection that must fail, in milliseconds. */
const resolveTimeoutMs = 1_000;
/** Generous: a connection that is slow once, on a busy machine, must not spoil a run. */
const patient = { attempts: 3, timeoutMs: 1_000, pauseMs: 500 };
/**
 * How many are tried at a time on each node. A process in a pod costs its node some 70 ms: all tries of an attack cost
 * it less than 5% of two cores.
 */
const maxOnNode = 5;
/**
 * How many are tried at a time in all, unless there are more nodes: each is a connection of this machine, by way of the
 * API server.
 */
const maxAtATime = 50;

/** What is found if something is tried. `others` are addresses that a host did not have before the attack. */
type Found = { worked: boolean; others?: string[] } | { worked?: undefined; problem: string };

/** Tries from within pods, with what they have, and says what it has found. */
export class FromWithin {
    /** The longest time between two tries of the same, in milliseconds. Undefined if there was none. */
    longestGapMs?: number;
    private readonly triedAt = new Map<string, number>();

    constructor(private readonly cluster: Cluster) {}

    /** Tries each once, all at the same time. */
    async look(trials: readonly TrialWithin[], timeoutMs: number): Promise<Look> {
        const look = await lookWith(trials, (one) => this.tryOne(one, timeoutMs));
        if (look.problem === undefined) for (const { id } of trials) this.noteTried(id, look.at);
        return look;
    }

    /**
     * Tries each several times, until it works.
     *
     * @param patienceMs how long the network may take to let connections through to the witness, for which the run has
     *   made policies
     */
    lookPatiently(trials: readonly TrialWithin[], patienceMs = 0): Promise<Look> {
        return lookWith(trials, async (one) => {
            const giveUpAt = performance.now() + (one.meetsWitness ? patienceMs : 0);
            let problems = 0;
            for (let attempt = 1; ; attempt++) {
                const found = await this.tryOne(one, patient.timeoutMs);
                if ("worked" in found && found.worked) return found;
                problems = "problem" in found ? problems + 1 : 0;
                const isOver = attempt >= patient.attempts && performance.now() > giveUpAt;
                if (isOver || problems >= patient.attempts) return found;
                await sleep(patient.pauseMs);
            }
        });
    }

    private async tryOne({ from, question, host }: TrialWithin, timeoutMs: number): Promise<Found> {
        if (!("resolve" in question)) return tryWithin(this.cluster, from, question, timeoutMs);
        const { found, problem } = await lookUp(this.cluster, from, question.resolve, resolveTimeoutMs);
        if (found.length === 0) return { problem: problem ?? noAddress(from, question.resolve) };
        return { worked: false, others: found.filter((one) => !host!.addresses.includes(one)) };
    }

    private noteTried(id: string, at: number): void {
        const before = this.triedAt.get(id);
        if (before !== undefined) this.longestGapMs = Math.max(this.longestGapMs ?? 0, Math.round(at - before));
        this.triedAt.set(id, at);
    }
}

async function lookWith(trials: readonly TrialWithin[], tryOne: (one: TrialWithin) => Promise<Found>): Promise<Look> {
    const begun = performance.now();
    const found = await Promise.all(trials.map(tryOne));
    const ended = performance.now();
    const idsOf = (is: (one: Found) => boolean) => trials.flatMap(({ id }, index) => (is(found[index]!) ? id : []));
    const failed = found.find((one) => "problem" in one);
    const moved = found.findIndex((one) => "others" in one && one.others!.length > 0);
    return {
        at: begun,
        tookMs: Math.round(ended - begun),
        open: idsOf(({ worked }) => worked === true),
        closed: idsOf(({ worked }) => !worked),
        ...(failed && { problem: failed.problem }),
        ...(moved !== -1 && { moved: { id: trials[moved]!.id, to: (found[moved] as { others: string[] }).others } }),
    };
}

/** The line of what could not even begin. */
export const untried = (problem: string): Look => ({
    at: performance.now(),
    tookMs: 0,
    open: [],
    closed: [],
    problem,
});

/**
 * The trials of one turn: some on each node, and the next ones at the next turn. If a node has several at a time, a
 * lookup is always among them, because connections to many addresses would put it off.
 */
export function inTurn(trials: readonly TrialWithin[], turn: number): TrialWithin[] {
    const nodes = [...groupedBy(trials, ({ from }) => from.node ?? "").values()];
    const onEach = Math.max(1, Math.min(maxOnNode, Math.floor(maxAtATime / nodes.length)));
    return nodes.flatMap((ofNode) => someOf(ofNode, turn, onEach));
}

function someOf(trials: readonly TrialWithin[], turn: number, atATime: number): TrialWithin[] {
    const part = (some: readonly TrialWithin[], count: number) =>
        Array.from({ length: Math.min(count, some.length) }, (_, index) => some[(turn * count + index) % some.length]!);
    const isLookup = ({ question }: TrialWithin) => "resolve" in question;
    const [lookups, others] = [trials.filter(isLookup), trials.filter((one) => !isLookup(one))];
    if (atATime === 1) return part(trials, 1);
    const ofNames = part(lookups, Math.max(1, atATime - others.length));
    return [...ofNames, ...part(others, atATime - ofNames.length)];
}
