import type { Proof } from "../kinds/attacks/attack-kind";
import type { Chosen } from "../targets/choose";
import { pause, poll } from "../values/async";
import { explainWorking } from "./allowing-policies";
import { FromWithin, type FromWithinArgs } from "./from-within";
import { startTimeoutMs } from "./job-pod";
import { enforcementTimeoutMs } from "../policies/enforcement";
import { decisive, reason, type Reason } from "../values/reasons";
import {
    abortedTimeoutMs,
    awaitBaseline,
    type Baseline,
    type Inconclusive,
    type Proven,
    type Witnessed,
} from "./outcome";
import type { PositiveControl } from "./positive-control";
import { whyAlive, whyChanged, whyNotKilled } from "./targets-there";
import { quoted } from "../values/quoted";

/**
 * Time limits of a probe from within a target, in milliseconds. The baseline, before the attack, must work within the
 * first. Under attack a probe gets no longer than the baseline took, since the application is attacked and not checked
 * meanwhile: what worked within that time and no longer does is cut off. The last probe may take longer, since it
 * delays nothing. What is outside of the cluster may be on another continent.
 */
const probeTimeoutMs = { baseline: 300, outside: 2_000, last: 1_000 };

export interface AttackProofArgs extends FromWithinArgs {
    /** Name of the run. */
    run: string;
    proof: Proof;
    chosen: Pick<Chosen, "targets" | "peers" | "hosts" | "withoutTool" | "leftOut">;
    /** How long the baseline took. @default its time limit */
    baselineMs?: number;
    /** Tries what must still work. @default nothing is tried */
    positive?: PositiveControl;
    /**
     * That the attack is over, and why, as far as the cluster says: asked every few seconds.
     * Undefined while it lasts. @default other policies are looked at
     */
    explain?: () => Promise<Reason | undefined>;
    /** Why the peers are not those that the attack was made for. @default it has none */
    whyPeersChanged?: () => Promise<Reason | undefined>;
}

/**
 * Proves one attack. What must fail under it is tried before, when it must work, then until it fails, then during the
 * window, and again at the end: connections into the targets by the witness, an ordinary pod; connections out of them
 * and DNS lookups from within each target; and connections between targets and peers from within both. What must still
 * work is tried, too: see `PositiveControl`.
 */
export class AttackProof {
    private readonly fromWithin: FromWithin;
    private readonly baselineMs: number;
    private readonly lastTimeoutMs: number;

    constructor(private readonly args: AttackProofArgs) {
        this.fromWithin = new FromWithin(args);
        // Never more than its limit: the last probe must not end long before the window does.
        this.baselineMs = Math.min(this.baselineTimeoutMs, args.baselineMs ?? Infinity);
        this.lastTimeoutMs = Math.max(probeTimeoutMs.last, 2 * this.baselineMs);
    }

    /** As of `FromWithin`. */
    get longestGapMs(): number | undefined {
        return this.fromWithin.longestGapMs;
    }

    private get baselineTimeoutMs(): number {
        return this.args.proof.addresses ? probeTimeoutMs.outside : probeTimeoutMs.baseline;
    }

    /**
     * Tries, before the attack, what must fail under it, and what must still work.
     *
     * @param patienceMs how long it is tried until all works
     */
    async baseline(patienceMs: number): Promise<Baseline> {
        const { witness, positive } = this.args;
        const [tried, inward] = await Promise.all([
            awaitBaseline(() => this.fromWithin.baseline(this.baselineTimeoutMs, startTimeoutMs), patienceMs),
            witness.baseline(patienceMs),
        ]);
        if ("inconclusive" in tried || "inconclusive" in inward)
            return {
                inconclusive: decisive(
                    [tried, inward].map((one) => ("inconclusive" in one ? one.inconclusive : undefined)),
                )!,
            };
        // Not at the same time: what must fail may take no longer under attack than it did.
        const spoiled = (await positive?.before(startTimeoutMs, patienceMs)) ?? [];
        return { tookMs: tried.tookMs, leftOut: [...tried.leftOut, ...inward.leftOut, ...spoiled] };
    }

    /** Waits until everything fails that must. @returns since when, or why that cannot be shown */
    async attackProven(): Promise<Proven | Inconclusive> {
        const { proof, witness } = this.args;
        const isUndefined = (reason: unknown) => reason === undefined;
        const cut = () => witness.cut();
        const whyWorking = () => this.fromWithin.whyWorking(this.baselineMs, "attack-not-proven");
        const [inward, working, alive] = await Promise.all([
            poll(cut, (seen) => !("inconclusive" in seen), enforcementTimeoutMs),
            poll(whyWorking, isUndefined, enforcementTimeoutMs),
            proof.deleted ? poll(() => this.whyNotGone(), isUndefined, enforcementTimeoutMs) : undefined,
        ]);
        const notProven = await this.decided([alive, "inconclusive" in inward ? inward : undefined, working]);
        if (notProven !== undefined) return { inconclusive: notProven };
        return { ...(inward as Witnessed), attackedAt: Date.now() };
    }

    /** Why the targets are not gone that must be: all but those whose eviction was refused, and not all of them. */
    private async whyNotGone(): Promise<Reason | undefined> {
        const { cluster, proof, chosen, witness } = this.args;
        const { targets } = chosen;
        const refusals = proof.mayBeRefused ? await witness.refusals() : [];
        const alive = (some: typeof targets) => whyAlive(cluster, targets[0]!.namespace, some);
        const [first] = refusals;
        if (first === undefined) return alive(targets);
        const admitted = targets.filter(({ uid }) => refusals.every(({ refused }) => refused.uid !== uid));
        if (admitted.length > 0) return alive(admitted);
        // Those that were refused at first may be evicted later.
        const kills = (await witness.kills()).length;
        const { pod, problem } = first.refused;
        return kills > 0
            ? undefined
            : reason("eviction-refused", `the API server did not evict ${pod}: ${quoted(problem)}`);
    }

    /**
     * Waits until a moment and looks whether the attack worked all the time.
     *
     * @param endMs the moment, in milliseconds since the epoch
     * @param signal set if the run is aborted earlier: that is the moment, then, and the attack must soon end
     * @returns why it did not, as far as is seen
     */
    async whyNotHeld(proven: Proven, endMs: number, signal?: AbortSignal): Promise<Reason | undefined> {
        const { cluster, proof, chosen, witness, positive, whyPeersChanged } = this.args;
        const { targets } = chosen;
        // The clock may be changed meanwhile.
        const end = performance.now() + endMs - Date.now();
        // The checks do not wait for it.
        const overreachingAtOnce = positive?.whyOverreaching();
        const lastFrom = end - this.lastTimeoutMs - this.baselineMs;
        const workingMeanwhile = this.fromWithin.whyWorkedMeanwhile(proven, this.baselineMs, lastFrom, signal);
        // Begins before the end: a dropped connection takes the whole timeout to fail, plus what the baseline took.
        await pause(lastFrom - performance.now(), signal);
        const [working, overreachingAtEnd] = await Promise.all([
            this.whyStillWorking(signal),
            signal?.aborted ? undefined : positive?.whyOverreaching(),
        ]);
        await pause(end - performance.now(), signal);
        const peersChanged = signal?.aborted ? undefined : whyPeersChanged?.();
        const changed = proof.deleted
            ? Promise.all([
                  witness.kills().then((kills) => whyNotKilled(cluster, targets[0]!.namespace, kills)),
                  witness.whyKillMissed(proven),
              ]).then(decisive)
            : whyChanged(cluster, targets);
        const [cut, unlike, meanwhile, overreaching, ended, joined] = await Promise.all([
            witness.whyNotCut(proven),
            changed,
            signal?.aborted ? unlessPending(workingMeanwhile) : workingMeanwhile,
            signal?.aborted ? unlessPending(overreachingAtOnce) : overreachingAtOnce,
            // What the Job reports last is a moment older than the last answers.
            Promise.race([
                this.explained(),
                ...(signal?.aborted ? [pause(abortedTimeoutMs).then(() => undefined)] : []),
            ]),
            peersChanged,
        ]);
        const notHeld = await this.decided([
            ended,
            unlike,
            joined,
            cut,
            meanwhile,
            working,
            overreaching,
            overreachingAtEnd,
        ]);
        if (notHeld !== undefined) return notHeld;
        const byWitness = positive?.whyOverreachingByWitness(proven.witnessedAt);
        return signal?.aborted ? Promise.race([byWitness, pause(abortedTimeoutMs).then(() => undefined)]) : byWitness;
    }

    /** Why the attack is over, as far as a look without a try shows it. Undefined if it does not. */
    async whyLost(proven: Proven): Promise<Reason | undefined> {
        const { cluster, proof, chosen, witness, whyPeersChanged } = this.args;
        const [cut, ...others] = await Promise.all([
            witness.whyNotCut(proven),
            proof.deleted ? witness.whyKillMissed(proven) : whyChanged(cluster, chosen.targets),
            whyPeersChanged?.(),
            this.explained(),
        ]);
        return this.decided([...others, cut?.mayPass ? undefined : cut]);
    }

    /** At the end: what still works from within the targets, or could not be tried. */
    private async whyStillWorking(signal?: AbortSignal): Promise<Inconclusive | undefined> {
        const working = this.fromWithin.whyWorking(this.lastTimeoutMs, "attack-not-held");
        if (!signal?.aborted) return working;
        const tooLate = this.fromWithin.couldNot(`no answer within ${abortedTimeoutMs} ms`);
        return Promise.race([working, pause(abortedTimeoutMs).then(() => tooLate)]);
    }

    /** Whether the cluster says that the attack is over. Undefined if that is not known. */
    private explained(): Promise<Reason | undefined> {
        return this.args.explain?.().catch(() => undefined) ?? Promise.resolve(undefined);
    }

    /** The reason that counts; or what explains it: a NetworkPolicy that allows what works, or a changed Service. */
    private async decided(found: readonly (Reason | Inconclusive | undefined)[]): Promise<Reason | undefined> {
        const outcomes = found.map((one) => (one && "code" in one ? { inconclusive: one } : one));
        const counts = decisive(outcomes.map((one) => one?.inconclusive));
        if (counts === undefined) return undefined;
        const { cluster, run, chosen, explain } = this.args;
        const { working } = outcomes.find((one) => one?.inconclusive === counts) as Inconclusive;
        const explanation = explain
            ? this.explained()
            : working && explainWorking(cluster, run, chosen.targets, working);
        return decisive([await explanation, counts]);
    }
}

/** What a promise has given. Undefined if it has not yet. */
const unlessPending = <T>(promise: Promise<T> | undefined) => Promise.race([promise, pause(0).then(() => undefined)]);
