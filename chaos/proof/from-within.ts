import { describeBlock, isProvenAt } from "../kinds/attacks/addresses";
import { dnsPorts } from "../kinds/attacks/dns";
import type { Proof, ProvenBlock } from "../kinds/attacks/attack-kind";
import type { Cluster } from "../cluster/client";
import { onePerPod } from "../targets/pods";
import type { Chosen, ResolvedHost } from "../targets/choose";
import { addressesOfTarget, type Target } from "../targets/containers";
import type { Working } from "./allowing-policies";
import { connections, connectionsTo, connectionsToWitness } from "./connections";
import { lookUp, namedIn, noAddress } from "./hosts";
import { pause } from "../values/async";
import { groupedBy } from "../values/grouped";
import { problemOf } from "../cluster/problem";
import { describeMilliseconds } from "../values/duration";
import type { ReasonCode } from "../values/reasons";
import { type Baseline, type Inconclusive, inconclusive, maxSilenceMs, type Proven, sinceProven } from "./outcome";
import { probe } from "./run-within";
import type { Question } from "./tools";
import type { Witness } from "./witness";

/** Time between two tries during the window, in milliseconds; and after one that could not be made. */
const tryEveryMs = { usually: 4_000, afterProblem: 1_000 };
/** A lookup must work under attack, and may take longer than a connection that must fail, in milliseconds. */
const resolveTimeoutMs = 1_000;
/**
 * How many are tried at a time on each node. A process in a pod costs its node some 70 ms: all tries of an attack cost
 * it less than 5% of two cores.
 */
const maxOnNode = 5;
/** In all, as far as one on each node leaves it: each is a connection of this machine, by way of the API server. */
const maxAtATime = 50;

export interface FromWithinArgs {
    cluster: Cluster;
    proof: Pick<Proof, "outward" | "lookup" | "addresses" | "peers">;
    chosen: Pick<Chosen, "targets" | "peers" | "hosts" | "withoutTool" | "leftOut">;
    /** The targets connect to it. */
    witness: Witness;
}

interface Trial {
    /** Of a connection; see `Connection`. Absent of a lookup, which must work in every target. */
    name?: string;
    from: Target;
    question: Question;
    /** Of a host: with `resolve`, all addresses that it had before the attack. */
    host?: ResolvedHost;
}

/** `others` are addresses that a host did not have before the attack. */
type Result = Trial & { worked: boolean; others?: string[] };

/** So many of some trials: a lookup each time, which connections to many addresses would put off. */
function someOf(trials: readonly Trial[], turn: number, atATime: number): Trial[] {
    const inTurn = (some: readonly Trial[], count: number) =>
        Array.from({ length: Math.min(count, some.length) }, (_, index) => some[(turn * count + index) % some.length]!);
    const isLookup = ({ question }: Trial) => "resolve" in question;
    const [lookups, others] = [trials.filter(isLookup), trials.filter((one) => !isLookup(one))];
    if (atATime === 1) return inTurn(trials, 1);
    const ofNames = inTurn(lookups, Math.max(1, atATime - others.length));
    return [...ofNames, ...inTurn(others, atATime - ofNames.length)];
}

const isOf = (target: Target, address: string) => addressesOfTarget(target).includes(address);

/** Tries what must fail under an attack from within its targets and their peers. */
export class FromWithin {
    /**
     * The longest time between two tries of the same connection or lookup, in milliseconds, since the window began.
     * Undefined if there was none.
     */
    longestGapMs?: number;
    private readonly triedAt = new Map<string, number>();

    constructor(private readonly args: FromWithinArgs) {}

    /** What is tried, as a part of a sentence. */
    get probed(): string {
        const { peers, addresses, lookup } = this.args.proof;
        if (peers) return "a fresh connection between the targets and their peers";
        if (addresses) return "a fresh connection from the targets to their peers' addresses";
        return lookup ? "a DNS lookup in the targets" : "a fresh connection out of the targets";
    }

    /**
     * Tries everything before the attack.
     *
     * @returns how long that took, and the connections to peers, or from them, that do not work
     * @throws Error if the witness does not start
     */
    async baseline(timeoutMs: number, waitForWitnessMs: number): Promise<Baseline> {
        const tried = await this.tryAll(timeoutMs, waitForWitnessMs);
        if ("inconclusive" in tried) return tried;
        const { results, tookMs } = tried;
        const unproven = this.unprovenAddresses(results);
        if (unproven !== undefined) return inconclusive("baseline-failed", unproven);
        const failed = results.filter(({ worked, question }) => !worked && !("resolve" in question));
        const failing = failed.find(({ name }) => name === undefined)?.from ?? this.targetWithout(results);
        if (failing) {
            const message = `${this.probed} did not work before the attack (${failing.pod})`;
            return inconclusive("baseline-failed", message);
        }
        return { tookMs, leftOut: failed.map(({ name }) => name!) };
    }

    /**
     * @param timeoutMs for each connection and lookup
     * @param code what it means that something works
     * @returns what still works
     */
    async whyWorking(timeoutMs: number, code: ReasonCode): Promise<Inconclusive | undefined> {
        const tried = await this.tryAll(timeoutMs, 0);
        if ("inconclusive" in tried) return tried;
        return this.whyNotDenied(tried.results, code, "");
    }

    /** @param when as the end of a sentence */
    private whyNotDenied(results: readonly Result[], code: ReasonCode, when: string): Inconclusive | undefined {
        const moved = results.find(({ others = [] }) => others.length > 0);
        if (moved) {
            const [name, now] = [moved.host!.host, moved.others!.join(", ")];
            const before = `which it was not before the attack (${moved.host!.addresses.join(", ")})`;
            return inconclusive("peers-changed", `${name} is ${now} in ${moved.from.pod}, ${before}${when}`);
        }
        const working = results.find(({ worked }) => worked);
        if (working === undefined) return undefined;
        const { addresses, outward } = this.args.proof;
        const what = (addresses ?? outward) ? `a fresh connection ${working.name}` : this.probed;
        const message = `the NetworkPolicy exists, but ${what} still works${when}`;
        return { ...inconclusive(code, message), working: this.working() };
    }

    /**
     * Tries again and again what must fail, also for a moment: a few connections or lookups each time on each node, in
     * turns.
     *
     * @param end of the window, in milliseconds of `performance.now()`
     * @returns what has worked, or that nothing could be tried for a time
     */
    async whyWorkedMeanwhile(
        { attackedAt }: Pick<Proven, "attackedAt">,
        timeoutMs: number,
        end: number,
        signal?: AbortSignal,
    ): Promise<Inconclusive | undefined> {
        const offset = Date.now() - performance.now() - attackedAt;
        const since = (moment: number) => sinceProven(moment + offset);
        this.longestGapMs = undefined;
        let seenAt = performance.now();
        for (let due = seenAt + tryEveryMs.usually, turn = 0; due < end; turn++) {
            await pause(due - performance.now(), signal);
            if (signal?.aborted) return undefined;
            const begun = performance.now();
            const tried = await this.trySome(turn, timeoutMs);
            if (tried === undefined) return undefined;
            const isSeen = "results" in tried;
            const silenceMs = (isSeen ? begun : performance.now()) - seenAt;
            if (silenceMs > maxSilenceMs) {
                const problem = isSeen ? "no answer came" : tried.problem;
                return this.couldNot(problem, ` for ${describeMilliseconds(silenceMs)}, from ${since(seenAt)}`);
            }
            const notDenied = isSeen && this.whyNotDenied(tried.results, "attack-not-held", `, ${since(begun)}`);
            if (notDenied) return notDenied;
            if (isSeen) seenAt = begun;
            due = isSeen ? begun + tryEveryMs.usually : performance.now() + tryEveryMs.afterProblem;
        }
        return undefined;
    }

    /** Undefined if there is nothing to try. */
    private async trySome(turn: number, timeoutMs: number) {
        // The Job's pod may have been replaced.
        const trials = await this.trials(0).catch((error: unknown) => ({ problem: problemOf(error) }));
        if ("problem" in trials) return trials;
        if ("inconclusive" in trials || trials.length === 0) return undefined;
        const nodes = [...groupedBy(trials, ({ from }) => from.node ?? "").values()];
        const onEach = Math.max(1, Math.min(maxOnNode, Math.floor(maxAtATime / nodes.length)));
        const some = nodes.flatMap((ofNode) => someOf(ofNode, turn, onEach));
        return this.try(some, timeoutMs);
    }

    /**
     * Tries everything that worked before the attack, with a time limit for each.
     *
     * @param waitForWitnessMs how long the witness may take to start
     * @returns also how long all took together, in milliseconds
     * @throws Error if the witness does not start
     */
    async tryAll(timeoutMs: number, waitForWitnessMs: number) {
        const trials = await this.trials(waitForWitnessMs);
        if ("inconclusive" in trials) return trials;
        const tried = await this.try(trials, timeoutMs);
        return "problem" in tried ? this.couldNot(tried.problem) : tried;
    }

    /** All that is tried. @throws as `tryAll` */
    private async trials(waitForWitnessMs: number): Promise<Trial[] | Inconclusive> {
        const { proof, chosen, witness } = this.args;
        const { outward, lookup, peers } = proof;
        const { targets, peers: peerPods = [], hosts = [], withoutTool = [], leftOut = [] } = chosen;
        const able = targets.filter(({ pod }) => !withoutTool.includes(pod));
        const toWitness = outward
            ? connectionsToWitness(await witness.addresses(waitForWitnessMs), outward.port, able)
            : [];
        const lookups = lookup ? onePerPod(able).map((from) => ({ from, question: { lookup: lookup.name } })) : [];
        const isBlocked = (port: number) => peers?.ports?.includes(port) ?? true;
        const between = (peers?.ways ?? []).flatMap((way) =>
            way === "egress" ? connections(targets, peerPods, isBlocked) : connections(peerPods, targets, isBlocked),
        );
        if (peers && between.length === 0)
            return inconclusive(
                "no-port",
                "neither the targets nor their peers have a known TCP port that the attack blocks",
            );

        const toHosts = hosts.flatMap((host) => connectionsTo(host, targets).map((one) => ({ ...one, host })));
        const ofNames = namedIn(hosts).flatMap((host) =>
            onePerPod(targets).map((from) => ({ from, question: { resolve: host.host }, host })),
        );
        const mayBeLeftOut = [...toWitness, ...between, ...toHosts];
        return [...lookups, ...mayBeLeftOut.filter(({ name }) => !leftOut.includes(name)), ...ofNames];
    }

    private async try(
        trials: readonly Trial[],
        timeoutMs: number,
    ): Promise<{ results: Result[]; tookMs: number } | { problem: string }> {
        const begun = performance.now();
        const results = await Promise.all(
            trials.map(async (trial) => ({ ...trial, ...(await this.tryOne(trial, timeoutMs)) })),
        );
        const tookMs = Math.round(performance.now() - begun);
        const problem = results.find((result) => "problem" in result);
        if (problem) return problem;
        for (const trial of trials) this.noteTried(trial, begun);
        return { results: results as Result[], tookMs };
    }

    private noteTried({ from, question }: Trial, at: number): void {
        const key = `${from.uid} ${JSON.stringify(question)}`;
        const before = this.triedAt.get(key);
        if (before !== undefined) this.longestGapMs = Math.max(this.longestGapMs ?? 0, Math.round(at - before));
        this.triedAt.set(key, at);
    }

    private async tryOne({ from, question, host }: Trial, timeoutMs: number) {
        const { cluster } = this.args;
        if (!("resolve" in question)) return probe(cluster, from, question, timeoutMs);
        const { found, problem } = await lookUp(cluster, from, question.resolve, resolveTimeoutMs);
        if (found.length === 0) return { problem: problem ?? noAddress(from, question.resolve) };
        return { worked: false, others: found.filter((one) => !host!.addresses.includes(one)) };
    }

    /** Which host or block answered nothing to a target before the attack, in a sentence. */
    private unprovenAddresses(results: readonly Result[]): string | undefined {
        const { addresses } = this.args.proof;
        if (addresses === undefined) return undefined;
        const { targets, hosts = [] } = this.args.chosen;
        for (const { uid, pod } of onePerPod(targets)) {
            const working = results.filter(({ worked, from }) => worked && from.uid === uid);
            const host = hosts.find((one) => working.every((result) => result.host !== one));
            const answers = (block: ProvenBlock) =>
                working.some(({ question }) => "connect" in question && isProvenAt(block, question.connect));
            const block = addresses.blocks.find((one) => !answers(one));
            if (host ?? block)
                return (
                    `nothing answered ${pod} at ` +
                    (host ? `${host.host} (${host.addresses.join(", ")}), port ${host.port},` : describeBlock(block!)) +
                    " before the attack"
                );
        }
        return undefined;
    }

    /** A target that none of some connections to the witness, or between targets and peers, shows to work. */
    private targetWithout(results: readonly Result[]): Target | undefined {
        const { outward, peers } = this.args.proof;
        if (!(outward ?? peers)) return undefined;
        const { targets, withoutTool = [] } = this.args.chosen;
        const tried = outward ? targets.filter(({ pod }) => !withoutTool.includes(pod)) : targets;
        return tried.find((target) =>
            results.every(
                ({ from, question, worked }) =>
                    !worked ||
                    !(from.uid === target.uid || ("connect" in question && isOf(target, question.connect.host))),
            ),
        );
    }

    /** Why nothing is known about what is tried. @param when such as " for 12 s". @default only now */
    couldNot(problem: string, when = ""): Inconclusive {
        return inconclusive("probe-failed", `${this.probed} could not be tried${when}: ${problem}`);
    }

    /** The connections that are tried. */
    private working(): Working {
        const { outward, lookup, addresses, peers } = this.args.proof;
        if (peers) return { ways: peers.ways, ports: peers.ports, with: "unknown" };
        if (addresses) return { ways: ["egress"], ports: addresses.hosts.map(({ port }) => port), with: "outside" };
        if (lookup) return { ways: ["egress"], ports: dnsPorts, protocols: ["UDP", "TCP"], with: "outside" };
        return { ways: ["egress"], ports: outward && [outward.port], with: "witness" };
    }
}
