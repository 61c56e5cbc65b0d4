import type { UsageReport } from "../kinds/attacks/stress/usage";
import { pause, poll } from "../values/async";
import type { Cluster } from "../cluster/client";
import { problemOf } from "../cluster/problem";
import { enforcementTimeoutMs } from "../policies/enforcement";
import { decisive, type Reason } from "../values/reasons";
import { explainWorking } from "./allowing-policies";
import { becameOf, type Established, notLookedAt } from "./established";
import { FromWithin, inTurn, untried } from "./from-within";
import type { JobReports } from "./job-log-reader";
import { JobPod, startTimeoutMs } from "./job-pod";
import * as judge from "./judge";
import {
    abortedTimeoutMs,
    awaitBaseline,
    type Baseline,
    type Doubt,
    maxSilenceMs,
    type Proven,
    sinceProven,
    soonIfAborted,
    type Witnessed,
} from "./outcome";
import { whyChanged, whyNotGone, whyNotKilled } from "./targets-there";
import * as table from "./trials";

/**
 * Time limits of a probe from within a target, in milliseconds. The baseline, before the attack, must work within the
 * first. Under attack a probe gets no longer than the baseline took, since the application is attacked and not checked
 * meanwhile: what worked within that time and no longer does is cut off. The last probe may take longer, since it
 * delays nothing. What is outside of the cluster may be on another continent.
 */
const probeTimeoutMs = { baseline: 300, outside: 2_000, last: 1_000 };

/** Time between two tries during the window, in milliseconds; and after one that could not be made. */
const tryEveryMs = { usually: 4_000, afterProblem: 1_000 };

/**
 * What the Job has reported may take so long to be read, in milliseconds: a busy kubelet says late that the container
 * runs. Two seconds were too short.
 */
export const readableMs = 30_000;

export interface AttackProofArgs extends table.Tried {
    cluster: Cluster;
    /** Name of the run. */
    run: string;
    namespace: string;
    /** Name of the deadline Job, whose pod is the witness. */
    job: string;
    /** Value of the label on the targets' pods. */
    targetLabel: string;
    /** How long the slowest probe of the baseline took, as much as one gets later. @default its time limit */
    slowestProbeMs?: number;
    /** Whether it is proven since the tries that show it began, not only from when they have failed. @default false */
    isSinceTries?: boolean;
    /**
     * That the attack is over, and why, as far as the cluster says: asked every few seconds.
     * Undefined while it lasts. @default other policies are looked at
     */
    explain?: () => Promise<Reason | undefined>;
    /** Why the peers are not those that the attack was made for. @default it has none */
    whyPeersChanged?: () => Promise<Reason | undefined>;
}

/**
 * Proves one attack: has the observers try what the table of trials says, before the attack, until it works, during the
 * window and at its end. What they have found is judged by `judge.ts`.
 */
export class AttackProof {
    private readonly witness: table.ByWitness;
    private readonly job: JobPod;
    private readonly fromWithin: FromWithin;
    private readonly slowestProbeMs: number;
    private readonly lastTimeoutMs: number;
    /** When the last look in the window that could be tried began, in milliseconds of `performance.now()`. */
    private seenAt = NaN;

    constructor(private readonly args: AttackProofArgs) {
        this.witness = table.byWitness(args);
        this.job = new JobPod(args.cluster, args.namespace, args.job);
        this.fromWithin = new FromWithin(args.cluster);
        // Never more than its limit: the last probe must not end long before the window does.
        this.slowestProbeMs = Math.min(this.baselineTimeoutMs, args.slowestProbeMs ?? Infinity);
        this.lastTimeoutMs = Math.max(probeTimeoutMs.last, 2 * this.slowestProbeMs);
    }

    /** As of `FromWithin`. */
    get longestGapMs(): number | undefined {
        return this.fromWithin.longestGapMs;
    }

    private get baselineTimeoutMs(): number {
        return this.args.proof.addresses ? probeTimeoutMs.outside : probeTimeoutMs.baseline;
    }

    /**
     * What must fail from within under the attack, or work.
     *
     * @param waitMs how long the witness may take to start
     * @throws Error if it does not, and targets connect to it
     */
    private async within(during: "fails" | "works", waitMs: number): Promise<table.Within> {
        const { outward, stillWorks } = this.args.proof;
        const meetsWitness = during === "fails" ? outward : stillWorks?.outward;
        const { trials, ...rest } = table.triedWithin(this.args, meetsWitness ? await this.job.addresses(waitMs) : []);
        return { ...rest, trials: trials.filter((one) => one.during === during) };
    }

    /**
     * Tries, before the attack, what must fail under it, and what must still work.
     *
     * @param patienceMs how long it is tried until all works
     */
    async baseline(patienceMs: number): Promise<Baseline> {
        const [tried, inward] = await Promise.all([
            awaitBaseline(() => this.triedBefore(), patienceMs),
            this.witnessedBefore(patienceMs),
        ]);
        if ("code" in tried || "code" in inward)
            return decisive([tried, inward].map((one) => ("code" in one ? one : undefined)))!;
        // This comes afterwards, so that it does not slow the baseline, whose time is a limit under attack.
        const { trials } = await this.within("works", startTimeoutMs);
        const { open } = await this.fromWithin.lookPatiently(trials, patienceMs);
        const spoiled = trials.filter(({ id }) => !open.includes(id)).map(({ name }) => name!);
        return { tookMs: tried.tookMs, leftOut: [...tried.leftOut, ...inward.leftOut, ...spoiled] };
    }

    private async triedBefore(): Promise<Baseline> {
        const within = await this.within("fails", startTimeoutMs);
        const look = await this.fromWithin.look(within.trials, this.baselineTimeoutMs);
        if (look.problem !== undefined) return judge.couldNot(within, look.problem);
        const before = judge.leftOutBefore(within, look);
        return "code" in before ? before : { tookMs: look.tookMs, ...before };
    }

    /** Waits until the Job's pod has tried all targets. @throws Error if the Job does not start */
    private async witnessedBefore(patienceMs: number): Promise<{ leftOut: string[] } | Doubt> {
        const { trials, needs } = this.witness;
        const ids = trials.filter((one) => needs.some(({ isMetBy }) => isMetBy(one))).map(({ id }) => id);
        const areAllIn = (those: readonly string[], some = ids) => {
            const names = new Set(those);
            return some.every((id) => names.has(id));
        };
        const { watched, closed } = await this.job.awaitPresence(startTimeoutMs, ({ watched }) => areAllIn(watched));
        if (ids.length === 0) return { leftOut: [] };
        // The log says the same, up to a second later: 0.5 s of each run.
        if (closed?.length === 0 && areAllIn(watched, judge.provingOf(this.witness))) return { leftOut: [] };
        // Reports of an earlier pod of the Job, which may not have tried them, are read, too.
        const haveTriedAll = async () =>
            (await this.job.read()).reports.some(({ open, closed }) => areAllIn([...open, ...closed]));
        if (!(await poll(haveTriedAll, Boolean, readableMs, 250))) return judge.noReport;
        return awaitBaseline(async () => {
            const last = (await this.job.read()).reports.at(-1);
            return last === undefined ? judge.noReport : judge.leftOutBefore(this.witness, last);
        }, patienceMs);
    }

    /** Waits until everything fails that must. @returns since when, or why that cannot be shown */
    async attackProven(): Promise<Proven | Doubt> {
        const begun = performance.now();
        const isUndefined = (reason: unknown) => reason === undefined;
        const whyWorking = () => this.whyWorking(this.slowestProbeMs, "attack-not-proven");
        const [inward, working, alive] = await Promise.all([
            poll(
                () => this.cut(),
                (seen) => !("code" in seen),
                enforcementTimeoutMs,
            ),
            whenSeen(poll(whyWorking, isUndefined, enforcementTimeoutMs)),
            whenSeen(this.args.proof.deleted && poll(() => this.whyNotGone(), isUndefined, enforcementTimeoutMs)),
        ]);
        const notProven = await this.decided([alive.seen, "code" in inward ? inward : undefined, working.seen]);
        if (notProven !== undefined) return notProven;
        const { since, ...witnessed } = inward as Cut;
        const sinceAll = Math.max(begun, since, working.at, alive.at);
        const forMs = this.args.isSinceTries ? Math.floor(performance.now() - sinceAll) : 0;
        return { ...witnessed, attackedAt: Date.now() - forMs };
    }

    private async cut(): Promise<Cut | Doubt> {
        const { reports, readAt } = await this.log();
        const found = judge.cutSince(this.witness, reports);
        if ("code" in found) return found;
        return { askedAt: readAt, witnessedAt: found.at, since: readAt - (found.triedMs ?? 0) };
    }

    private async whyWorking(timeoutMs: number, code: "attack-not-proven" | "attack-not-held") {
        const within = await this.within("fails", 0);
        return judge.whyWorking(within, await this.fromWithin.look(within.trials, timeoutMs), code);
    }

    /** What the Job has reported of this attack. */
    private async log() {
        const { reports, kills, refused, missed, usage } = await this.job.read();
        const { targetLabel } = this.args;
        return {
            readAt: performance.now(),
            reports,
            kills: kills.filter(({ killed: { label } }) => label === targetLabel),
            refused: refused.filter(({ refused: { label } }) => label === targetLabel),
            missed: missed.filter(({ missed: { label } }) => label === targetLabel),
            usage: usage.filter(({ usage: { label } }) => label === targetLabel),
        };
    }

    /** The pods that the Job has deleted for this attack, and those whose eviction was refused. */
    async kills() {
        const { kills, refused } = await this.log();
        return {
            kills: kills.map(({ at, killed: { pod, uid } }) => ({ at, pod, uid })),
            refused: refused.map(({ at, refused: { label: _, ...one } }) => ({ at, ...one })),
        };
    }

    /** What each container has used until now, that the Job has stressed. */
    async usage(): Promise<UsageReport[]> {
        const last = new Map<string, UsageReport>();
        for (const { usage } of (await this.log()).usage) {
            const { label: _, ...report } = usage;
            last.set(`${report.pod}/${report.container}`, report);
        }
        return [...last.values()];
    }

    private async whyNotGone(): Promise<Reason | undefined> {
        const { cluster, namespace, chosen } = this.args;
        return whyNotGone(cluster, namespace, chosen.targets, await this.log());
    }

    /**
     * Waits until a moment and looks whether the attack worked all the time.
     *
     * @param endMs the moment, in milliseconds since the epoch
     * @param signal set if the run is aborted earlier: that is the moment, then, and the attack must soon end
     * @returns why it did not, as far as is seen
     */
    async whyNotHeld(proven: Proven, endMs: number, signal?: AbortSignal): Promise<Reason | undefined> {
        // The clock may be changed meanwhile.
        const end = performance.now() + endMs - Date.now();
        // The checks do not wait for it.
        const overreachingAtOnce = this.whyOverreaching();
        const lastFrom = end - this.lastTimeoutMs - this.slowestProbeMs;
        const workingMeanwhile = this.whyWorkedMeanwhile(proven, lastFrom, signal);
        // Begins before the end: a dropped connection takes the whole timeout to fail, plus what the baseline took.
        await pause(lastFrom - performance.now(), signal);
        const [working, overreachingAtEnd] = await Promise.all([
            this.whyStillWorking(proven, signal),
            signal?.aborted ? undefined : this.whyOverreaching(),
        ]);
        await pause(end - performance.now(), signal);
        const [seen, meanwhile, overreaching] = await Promise.all([
            this.seen(proven, true, signal),
            signal?.aborted ? unlessPending(workingMeanwhile) : workingMeanwhile,
            signal?.aborted ? unlessPending(overreachingAtOnce) : overreachingAtOnce,
        ]);
        return (
            (await this.decided([...seen, meanwhile, working, overreaching, overreachingAtEnd])) ??
            soonIfAborted(this.whyOverreachingByWitness(proven), signal)
        );
    }

    /** Why the attack is over, as far as a look without a try shows it. Undefined if it does not. */
    async whyLost(proven: Proven): Promise<Reason | undefined> {
        const seen = await this.seen(proven, false);
        return this.decided(seen.filter((one) => !one?.mayPass));
    }

    /** What the cluster and the Job show by now, without a try. @param isLast whether the window has ended */
    private async seen(
        { askedAt, witnessedAt }: Proven,
        isLast: boolean,
        signal?: AbortSignal,
    ): Promise<(Doubt | undefined)[]> {
        const { cluster, proof, chosen, namespace, whyPeersChanged } = this.args;
        // By the Job's clock. What only the Job sees, and may itself do, has no last probe: its next report is that.
        const now = witnessedAt + performance.now() - askedAt;
        const isTold = ({ reports }: Pick<JobReports, "reports">) => judge.isTold(this.witness, reports, now);
        const awaitsReport = isLast && this.witness.missing !== undefined && !signal?.aborted;
        const ofJob = async () => {
            const log = awaitsReport ? await poll(() => this.log(), isTold, maxSilenceMs) : await this.log();
            const { reports, kills, missed, readAt } = log;
            return [
                judge.whyNotCut(this.witness, reports, witnessedAt, witnessedAt + readAt - askedAt),
                proof.deleted && isLast ? await whyNotKilled(cluster, namespace, kills) : undefined,
                judge.whyMissed(missed, witnessedAt),
                awaitsReport && !isTold(log) ? judge.notSeenAtEnd : undefined,
            ];
        };
        const found = await Promise.all([
            // What the Job reports last is a moment older than the last answers.
            soonIfAborted(this.explained(), signal),
            proof.deleted ? undefined : whyChanged(cluster, chosen.targets, proof),
            signal?.aborted ? undefined : whyPeersChanged?.(),
            ofJob(),
        ]);
        return found.flat();
    }

    /**
     * Tries again and again what must fail, also for a moment: a few connections or lookups each time on each node, in
     * turns.
     *
     * @param end of the window, in milliseconds of `performance.now()`
     * @returns what has worked, or that nothing could be tried for a time
     */
    private async whyWorkedMeanwhile(proven: Proven, end: number, signal?: AbortSignal) {
        const since = sinceBy(proven);
        this.fromWithin.longestGapMs = undefined;
        const begun = performance.now();
        // Since the tries, the window has begun.
        this.seenAt = begun - (this.args.isSinceTries ? Math.max(0, Date.now() - proven.attackedAt) : 0);
        for (let due = begun + tryEveryMs.usually, turn = 0; due < end; turn++) {
            await pause(due - performance.now(), signal);
            if (signal?.aborted) return undefined;
            const [within, look] = await this.lookAtSome(turn);
            const isTried = look.problem === undefined;
            if (isTried && within.trials.length === 0) return undefined;
            const why = judge.whyWorkedMeanwhile(within, look, this.seenAt, since);
            if (why) return why;
            if (isTried) this.seenAt = look.at;
            due = isTried ? look.at + tryEveryMs.usually : performance.now() + tryEveryMs.afterProblem;
        }
        return undefined;
    }

    /** Tries some of what must fail. Never rejects: the Job's pod may have been replaced. */
    private async lookAtSome(turn: number): Promise<[table.Within, judge.Look]> {
        try {
            const within = await this.within("fails", 0);
            return [within, await this.fromWithin.look(inTurn(within.trials, turn), this.slowestProbeMs)];
        } catch (error) {
            return [table.triedWithin(this.args, []), untried(problemOf(error))];
        }
    }

    /** Tries under attack what worked before it. Never rejects. @returns what has failed each time, in a sentence */
    private async whyOverreaching(): Promise<Reason | undefined> {
        try {
            const { trials } = await this.within("works", 0);
            return judge.whyOverreaching(trials, await this.fromWithin.lookPatiently(trials));
        } catch (error) {
            return judge.uncontrolled(problemOf(error));
        }
    }

    private async whyOverreachingByWitness({ witnessedAt }: Proven): Promise<Reason | undefined> {
        if (!this.witness.trials.some(({ during }) => during === "works")) return undefined;
        const lost = judge.lostByWitness(this.witness, (await this.job.read()).reports, witnessedAt);
        const refusing = lost.flatMap(({ name, still }) => (still ? name : []));
        const trials = table.fromOwnContainers(this.args.chosen.targets, refusing);
        const { open } = await this.fromWithin.look(trials, probeTimeoutMs.last);
        return judge.whyOverreachingByWitness(this.witness, lost, open);
    }

    /**
     * At the end: what still works from within the targets, or could not be tried. An aborted run's look is one more in
     * the window: its attack must not wait for a busy node's answer.
     */
    private async whyStillWorking(proven: Proven, signal?: AbortSignal): Promise<Doubt | undefined> {
        if (!signal?.aborted) return this.whyWorking(this.lastTimeoutMs, "attack-not-held");
        const at = performance.now();
        const working = this.whyWorking(this.slowestProbeMs, "attack-not-held");
        const tooLate = pause(abortedTimeoutMs).then(() => {
            const look = { ...untried(`no answer within ${abortedTimeoutMs} ms`), at, tookMs: abortedTimeoutMs };
            return judge.whyWorkedMeanwhile(table.triedWithin(this.args, []), look, this.seenAt, sinceBy(proven));
        });
        return Promise.race([working, tooLate]);
    }

    /** What became of the connections to the targets that the witness had before the attack. */
    async established({ witnessedAt }: Proven): Promise<Established> {
        const { proof } = this.args;
        if (!proof.inward) return notLookedAt(proof);
        return becameOf((await this.job.read()).reports, judge.provingOf(this.witness), witnessedAt);
    }

    /** Whether the cluster says that the attack is over. Undefined if that is not known. */
    private explained(): Promise<Reason | undefined> {
        return this.args.explain?.().catch(() => undefined) ?? Promise.resolve(undefined);
    }

    /** The reason that counts; or what explains it: a NetworkPolicy that allows what works, or a changed Service. */
    private async decided(found: readonly (Doubt | undefined)[]): Promise<Reason | undefined> {
        const counts = decisive(found);
        if (counts === undefined) return undefined;
        const { code, message, working } = counts;
        const { cluster, run, chosen, explain } = this.args;
        const explanation = explain
            ? this.explained()
            : working && explainWorking(cluster, run, chosen.targets, working);
        return decisive([await explanation, { code, message }]);
    }
}

/** `since` is by this machine's time, as `askedAt`: the tries that failed did not begin later. */
type Cut = Witnessed & { since: number };

/** What is seen, and when that was, in milliseconds of `performance.now()`. */
const whenSeen = async <T>(seen: T | Promise<T>) => ({ seen: await seen, at: performance.now() });

/** Says in words how long after the proof a moment of `performance.now()` was. */
function sinceBy({ attackedAt }: Proven): (moment: number) => string {
    const offset = Date.now() - performance.now() - attackedAt;
    return (moment) => sinceProven(moment + offset);
}

/** What a promise has given. Undefined if it has not yet. */
const unlessPending = <T>(promise: Promise<T> | undefined) => Promise.race([promise, pause(0).then(() => undefined)]);
