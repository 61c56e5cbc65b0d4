import type { Delivery } from "../kinds/actions/beside";
import { inTurn } from "../kinds/actions/registry";
import { type Done, performAll, type Performed, whyNotKept } from "../kinds/actions/perform";
import { attackKindOf } from "../kinds/attacks/registry";
import { namesOf, type PlannedCheck } from "../kinds/checks/observe";
import type { Cluster } from "../cluster/client";
import { withoutPeriod } from "../cluster/problem";
import { isAttack, needsDeadlineJob, type Plan, type RunAttack } from "../definition/plan";
import { describeMilliseconds } from "../values/duration";
import { sinceAttack } from "../values/since";
import type { AttackProofs } from "../proof/attack-proofs";
import { jobNameOf } from "../pods/job-name";
import { besidePodsOf } from "../proof/beside-pod";
import { JobPod } from "../proof/job-pod";
import { lookAgain } from "../proof/look-again";
import { soonIfAborted } from "../proof/outcome";
import { whyDeniedByOthers } from "../proof/policy-denies";
import { pause } from "../values/async";
import { decisive, reason, type Reason } from "../values/reasons";
import { attackedSince, type Seen } from "../report/compose";
import { describeDelivery } from "../report/deliveries";
import { AbortWatch, endOwnRun, type Ending } from "./abort-watch";
import { whyAnsweredAllTheSame } from "./answered-all-the-same";
import type { Asking } from "./asking";
import { type Begun, runLasts, notSeen, whyRunIsOver } from "./attacks-last";
import type { Given, StepContext } from "./contract";
import { describeTerminating } from "../targets/terminating";

/**
 * How long is waited for what explains that an attack is over, in milliseconds: a policy that came may show in
 * connections before it is listed.
 */
const settleMs = 1_000;

/** How long the end of a run takes at most from a restored policy until the attacks are gone: see `endAttacks`. */
const removedMs = 3_000;

/** How much of a log is read at first, in seconds: what was before the window does not count. */
const sinceSeconds = 5;

/** What was seen, and how the attacks were ended if the window ended early. */
export type Watched = Seen & { ending?: Ending };

/** What a run without a proven attack has seen. */
export function seenNothing({ checks }: Plan, inconclusive: Reason): Watched {
    return { checks: checks.map(({ name }) => ({ name, answers: [] })), actions: [], reasons: [inconclusive] };
}

/**
 * Watches the application through grace and window, and makes sure that nothing spoils the verdict.
 *
 * @param asking asks the checks
 * @param shiftMs see `clockShift`
 * @param countedBefore settles once it is known what the attacks had counted before
 */
export async function watchWindow(
    context: StepContext,
    { steadyState, targets: { policies, ownPolicies } }: Given<"check">,
    run: Begun,
    proofs: AttackProofs,
    { asking, shiftMs, countedBefore }: { asking: Asking; shiftMs: () => number; countedBefore: Promise<unknown> },
): Promise<Watched> {
    const { plan, cluster, say } = context;
    const lengthMs = plan.window.graceMs + plan.window.durationMs;
    const whole = describeMilliseconds(lengthMs);
    const attacks = proofs.shown;
    const how = isAttack(plan) ? `Proven: ${attacks.map(describeProven).join("; ")}` : "Nothing is attacked";
    say(`${how}. Checking ${namesOf(plan)} for ${whole}`);
    const denying = plan.attacks.filter(({ attack }) => attackKindOf(attack).denies !== undefined);
    const looking = describeTerminating(
        cluster,
        plan,
        denying.map(({ target }) => target),
    );
    const askedFrom = await asking.begun;
    /** When `performance.now()` was 0. */
    const zeroAt = Date.now() - performance.now();
    const attackedAt = attackedSince(attacks);
    // A clock that was set back has the proof in the future.
    const from = Math.max(askedFrom, Math.min(performance.now(), (attackedAt ?? zeroAt) - zeroAt));
    const begunAt = Math.round(zeroAt + from);
    const sinceAt = Math.min(attackedAt ?? begunAt, begunAt);
    const watch = new AbortWatch(context, sinceAt);
    const { signal } = watch;
    const endsAt = begunAt + lengthMs;
    const deliveries = followBesides(context, steadyState.runName, {
        from: sinceAt + plan.window.graceMs,
        to: endsAt,
        signal,
    });
    const follow = (planned: PlannedCheck) => watch.follow(planned);
    const asked = asking.untilEndOf({ from, lengthMs, follow, signal });
    const attacksLast = () => runLasts(plan, cluster, run);
    const acting = { cluster, namespace: plan.namespace, run: steadyState.runName, endsAt, signal };
    const done: Done[] = [];
    const jobPod = new JobPod(cluster, plan.namespace, jobNameOf(steadyState.runName));
    const whyLost = async () => {
        const seen = await proofs.whyLost();
        if (seen !== undefined) return seen;
        const allowed = await proofs.whyAllowed();
        // The end of a run restores policies first, and removes the attacks a moment later.
        if (allowed !== undefined) await pause(removedMs, signal);
        const found = allowed ?? (await jobPod.whyPartsLacking());
        // At the end of a run, the Job gives up its rights itself, last: by then the attacks are gone.
        return (await attacksLast()) ? found : whyRunIsOver(plan, cluster, run);
    };
    const policed = { namespace: plan.namespace, run: steadyState.runName, policies, ownPolicies };
    let stoppedAt: number | undefined;
    /** Ends the window, and with it the attacks, once no verdict is possible. */
    const stopOnce = async (looking: Promise<Reason | undefined>) => {
        const seen = await looking.catch(notSeen);
        if (seen === undefined || Date.now() >= endsAt) return seen;
        const at = Date.now();
        // The cause may show a moment later.
        await pause(settleMs, signal);
        if (signal.aborted) return seen;
        stoppedAt = at;
        say(`No verdict is possible any more, so the run ends now: ${seen.message}`);
        watch.stop();
        return seen;
    };
    const counting = async () => {
        await Promise.all([countedBefore, pause(sinceAt + plan.window.graceMs - Date.now(), signal)]);
        if (!signal.aborted) await beginCounting(cluster, attacks);
        return undefined;
    };
    const [actions, undone, held, denied, lost, uncounted] = await Promise.all([
        performAll(plan.actions, acting, attacksLast, say, done),
        inTurn(plan.actions).length > 0 ? whyNotKept(done, acting).catch(notSeen) : undefined,
        isAttack(plan) ? proofs.whyNotHeld(endsAt, signal).catch(notSeen) : pause(endsAt - Date.now(), signal),
        isAttack(plan)
            ? stopOnce(soonIfAborted(whyDeniedByOthers(cluster, policed, endsAt, signal), signal))
            : undefined,
        needsDeadlineJob(plan) ? stopOnce(soonIfAborted(lookAgain(whyLost, endsAt, signal), signal)) : undefined,
        counting().catch(notSeen),
    ]);
    const aborted = watch.end();
    // The attacks of a run that ends early do not wait for the last answers.
    if (!signal.aborted) await asked;
    const isOver = await whyRunIsOver(plan, cluster, run);
    const ending = signal.aborted ? await endOwnRun(context) : undefined;
    const endedAt = ending && "at" in ending ? ending.at : undefined;
    const checks = await asked;
    const delivered = await deliveries;
    const bypassed = await whyAnsweredAllTheSame(plan, cluster, attacks, checks);
    const reasons = [
        shiftedClock(shiftMs()),
        denied,
        lost,
        // The Job of a run that is over has ended, too.
        (held?.code === "job-not-running" && isOver?.code === "run-over" ? undefined : held) ?? undefined,
        failedAction(actions),
        undone,
        isOver,
        uncounted,
        bypassed,
    ];
    const terminating = await looking;
    const stopped = stoppedAt === undefined ? undefined : decisive(reasons);
    return {
        checks,
        actions,
        ...(delivered && { deliveries: delivered }),
        // A corrected clock may be behind the moment of the proof.
        reasons: stopped
            ? [stoppedThen(stopped, sinceAttack(Math.max(0, stoppedAt! - sinceAt), isAttack(plan)))]
            : reasons,
        ...(aborted && { aborted: { ...aborted, endedAt } }),
        ...(ending && { ending }),
        ...(terminating !== undefined && { terminating }),
    };
}

/** Begins what attacks have kept back until answers count. */
const beginCounting = (cluster: Cluster, attacks: readonly RunAttack[]) =>
    Promise.all(attacks.map(async (one) => attackKindOf(one.attack).beginCounting?.(one, cluster)));

/**
 * What actions have sent beside the run in a time, for the verdict. Undefined if there are none, or the window has
 * ended early: then nobody waits for it.
 */
async function followBesides(
    { plan, cluster, say }: StepContext,
    runName: string,
    { from, to, signal }: { from: number; to: number; signal: AbortSignal },
): Promise<Delivery[] | undefined> {
    const pods = besidePodsOf(cluster, plan, runName, sinceSeconds);
    if (pods.length === 0) return undefined;
    const over = new AbortController();
    const following = pods.map((pod) => pod.follow(AbortSignal.any([signal, over.signal])));
    await pause(to - Date.now(), signal);
    over.abort();
    await Promise.all(following);
    if (signal.aborted) return undefined;
    const deliveries = await Promise.all(pods.map((pod) => pod.between(from, to)));
    for (const delivery of deliveries) say(describeDelivery(delivery));
    return deliveries;
}

const stoppedThen = ({ code, message }: Reason, when: string): Reason =>
    reason(code, `${message}; this was seen ${when}, and the run ended then`);

/** A clock that is corrected little by little moves by less, in milliseconds. */
const maxShiftMs = 1_000;

/**
 * Starts measuring how far this machine's clock is from the time that passes while it is awake, in milliseconds: ahead
 * if it sleeps or the clock is set forward, behind (negative) if the clock is set back.
 */
export function clockShift(): () => number {
    const difference = () => Date.now() - performance.now();
    const before = difference();
    return () => difference() - before;
}

/** Answers are counted by the clock. */
function shiftedClock(shiftMs: number): Reason | undefined {
    if (Math.abs(shiftMs) <= maxShiftMs) return undefined;
    const by = `${describeMilliseconds(Math.abs(shiftMs))} ${shiftMs > 0 ? "forward" : "back"}`;
    return reason("clock-shift", `this machine's clock moved ${by} against the time that passed during the run`);
}

function failedAction(actions: readonly Performed[]): Reason | undefined {
    const failed = actions.find(({ problem }) => problem !== undefined);
    if (failed === undefined) return undefined;
    return reason("action-failed", `it was not possible to ${failed.action}: ${withoutPeriod(failed.problem!)}`);
}

/** The targets of an attack, and what is done to them, as a part of a sentence. */
function describeProven({ attack, chosen: { targets, withoutTool } }: RunAttack): string {
    const pods = targets.map(({ pod }) => pod);
    const done = `${pods.join(", ")} ${pods.length === 1 ? "is" : "are"} ${attackKindOf(attack).describe(attack)}`;
    return withoutTool ? `${done} (inward; outward is not proven)` : done;
}
