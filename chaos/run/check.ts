import { setTimeout as sleep } from "node:timers/promises";
import { type Counted, countedSince, describeCounts } from "../kinds/attacks/counted";
import { describeUsage } from "../kinds/attacks/stress/usage";
import { attackKindOf } from "../kinds/attacks/registry";
import { namesOf } from "../kinds/checks/observe";
import { attacksOf, isAttack, needsDeadlineJob, undoneOf } from "../definition/plan";
import { JobPod } from "../proof/job-pod";
import { AttackProofs, type ShownAttack } from "../proof/attack-proofs";
import { describeEstablished } from "../proof/established";
import { whyDeniedByOthers } from "../proof/policy-denies";
import { decisive, pageOfReason, type Reason, type ReasonCode, ReasonError, verdictLine } from "../values/reasons";
import { abortedAgain, leaseFor, moveOwn } from "../lease/lease";
import { earlyEndOf, leaseMoves } from "../lease/lease-record";
import { lastJournalOf } from "../report/journal-files";
import { factsOf } from "../report/advice/facts";
import { adviceOn } from "../report/advice/registry";
import { failsUpdate, journalOf } from "../report/compose";
import { ReadinessRecorder } from "../report/readiness";
import { adviceLines, type Conclusion } from "../report/conclusion";
import { keepReport } from "../report/report";
import { awaitRecovery, endOwnRun, type Ending } from "./abort-watch";
import { abortingRun } from "./aborting-run";
import { type Begun, notSeen, whyRunIsOver } from "./attacks-last";
import { Asking, isAskedEarly } from "./asking";
import { beginAttacks, labelAttacked } from "./begin-attacks";
import type { Given, LabeledTargets, Step, StepContext } from "./contract";
import { dismissWitness } from "./other-policies";
import { endAttacksStep, undo } from "./recovery";
import { sweep } from "./sweep";
import { poll, settling } from "../values/async";
import { clockShift, seenNothing, type Watched, watchWindow } from "./window";

/**
 * Proves the attacks, has the checks look through the window while the actions are performed, proves the attacks again,
 * and gives the verdict. With that it ends the attacks, unless the plan has them stay; an abort rule ends them earlier.
 *
 * @throws Error with the verdict, if the plan wants a verdict other than PASSED to fail the update, or if the attacks
 *   could not be ended at the first try
 */
export const check: Step<"check"> = async (context, given) => {
    const { conclusion, ending } = await settling(() => observe(context, given)).catch(async (error: unknown) => {
        // The disk may be full, for example. The attacks must not last until the deadline for that.
        await endAttacksStep(context, {}).catch(() => undefined);
        throw error;
    });
    return conclude(context, conclusion, ending);
};

/** A verdict, and what became of the attacks if they were ended with it. */
interface Concluded {
    conclusion: Conclusion;
    ending?: Ending;
}

async function observe(context: StepContext, given: Given<"check">): Promise<Concluded> {
    const { plan, cluster, stack } = context;
    const startedAt = Date.now();
    const shiftMs = clockShift();
    const { baselineMs: slowestProbeMs, isPoliced } = given.targets;
    const { runName, checks: before, baseline } = given.steadyState;
    const run: Begun = { runName, attacks: attacksOf(plan, runName, given.targets.attacks) };
    const ended = await whyRunIsOver(plan, cluster, run);
    const kept = ended === undefined ? undefined : await keptVerdict(context);
    if (kept && "verdict" in kept) return { conclusion: kept };
    // The sweep removes the Job, too: nobody was attacked, so it would have nothing to end.
    const abort = (error: unknown) => sweep(context, error instanceof ReasonError ? error.reason : undefined);
    const undone = { hasBegun: true, undo: abort, seen: { waitedMs: given.steadyState.waitedMs } };
    if (kept) return abortingRun(context, () => Promise.reject(abortedAgain(kept, plan)), undone);
    const { deadlineJob: job } = given;
    const over =
        ended ??
        (await whyNotWatched(context, job)) ??
        (isPoliced ? await labelAttacked(context, run) : undefined) ??
        (await abortingRun(context, () => beginAttacks(context, run), undone));
    const isEarly = isAskedEarly(plan);
    const tried = { attacks: run.attacks, slowestProbeMs, isSinceTries: isEarly };
    const proofs = new AttackProofs({ cluster, plan, job, ...tried });
    const readiness = new ReadinessRecorder(cluster, plan.defaultNamespace);

    const early = over === undefined && isEarly ? new Asking(context, given.steadyState) : undefined;
    const watching = proveAndWatch(context, given, run, proofs, { over, early, shiftMs });
    const { unproven, facts, countedBefore, seen } = await watching.finally(() => early?.end());
    if (!unproven) {
        await proofs.seeEstablished().catch((error: unknown) => {
            const reason = notSeen(error).message;
            for (const one of proofs.shown) one.became = { became: "unknown", reason };
        });
        // The connections of a target that is gone have ended with it.
        if (decisive(seen.reasons)?.code === "target-changed")
            for (const one of proofs.shown)
                if (one.became?.direction === "inward")
                    one.became = { ...one.became, became: "unknown", afterMs: undefined, reason: goneTarget };
        seen.reasons.push(await proofs.whyEstablishedNotCut());
        printEstablished(context, proofs.shown);
        for (const [index, one] of proofs.shown.entries()) await count(context, one, seen, await countedBefore[index]);
    }
    // Kills and usage are shown beside the verdict, which does not rest on them.
    await proofs.seeKills().catch(() => undefined);
    await proofs.seeUsage().catch(() => undefined);
    for (const one of proofs.shown.flatMap(({ usage = [] }) => usage)) context.say(describeUsage(one));
    // An attack of a run that is over says nothing more, even if another is still there.
    const isOver = seen.reasons.some((one) => one?.code === "run-over");
    const stays = plan.until === "disabled" && !isOver && (await wouldEnd(context, job));
    // The attacks last until here, unless they were aborted: counts and kept connections end with them.
    const ending = seen.ending ?? (stays ? undefined : await endOwnRun(context));
    if (isPoliced) await dismissWitness(cluster, plan);
    const { workloads } = given.targets;
    const { namespaceUid, waitedMs } = given.steadyState;
    const measured = given.accompanied?.baseline ?? baseline;
    const about = { stack, startedAt, before, baseline: measured, workloads, namespaceUid, waitedMs };
    const found = { ...about, attacks: proofs.shown, seen };
    const journal = journalOf(plan, { ...found, isEnded: ending !== undefined, readiness: readiness.stop() });
    const advice = adviceOn(journal, await facts);
    if (advice.length > 0) journal.conclusion.advice = advice;
    keepReport(journal);

    return { conclusion: journal.conclusion, ending };
}

const goneTarget = "a target was gone, or had ended or restarted, before the run had ended";

/** These end a fault. The end of a run causes none of them, so if one was seen, it is the reason. */
const causes: readonly ReasonCode[] = ["service-changed", "proxy-failed"];

/**
 * Proves the attacks, and has the checks look through the window.
 *
 * @param how.over why the run is over. Undefined if it is not
 * @param how.early set if the checks are asked already
 */
async function proveAndWatch(
    context: StepContext,
    given: Given<"check">,
    run: Begun,
    proofs: AttackProofs,
    { over, early, shiftMs }: { over?: Reason; early?: Asking; shiftMs: () => number },
) {
    const unproven = over ?? (await whyUnproven(context, run, proofs, given.targets));
    if (unproven) return { unproven, countedBefore: [], seen: seenNothing(context.plan, unproven) };
    // As it is under attack: afterwards, somebody may change it.
    const facts = factsOf(context.cluster, run.attacks);
    const countedBefore = proofs.shown.map((one) => countedSoFar(context, one));
    const asking = early ?? new Asking(context, given.steadyState);
    const known = { asking, shiftMs, countedBefore: Promise.all(countedBefore) };
    return { facts, countedBefore, seen: await watchWindow(context, given, run, proofs, known) };
}

/** Proves the attacks. @returns why they are not proven; or that the run was over by then, unless its cause is known */
async function whyUnproven(
    { plan, cluster }: StepContext,
    run: Begun,
    proofs: AttackProofs,
    { policies, ownPolicies }: LabeledTargets,
) {
    const unproven = await proofs.prove().catch(notSeen);
    if (unproven === undefined || causes.includes(unproven.code)) return unproven;
    const over = await whyRunIsOver(plan, cluster, run, unproven);
    // The Job has ended it for that.
    const besides = { namespace: plan.namespace, run: run.runName, policies, ownPolicies };
    const denied = ownPolicies && (await whyDeniedByOthers(cluster, besides, Date.now()).catch(() => undefined));
    return decisive([denied, over?.code === "run-over" ? over : unproven]);
}

/** Why nothing would end the attacks now: the deadline Job does not run. Undefined if it does, or none is needed. */
async function whyNotWatched({ plan, cluster }: StepContext, job: string): Promise<Reason | undefined> {
    if (!needsDeadlineJob(plan)) return undefined;
    const running = new JobPod(cluster, plan.namespace, job).requireRunning(plan);
    return running.then(() => undefined, notSeen);
}

/** Whether the deadline Job runs, without which nothing would end attacks that stay. Never rejects. */
async function wouldEnd(context: StepContext, job: string): Promise<boolean> {
    const why = await whyNotWatched(context, job);
    if (why?.code !== "job-not-running") return true;
    context.say(`Nothing would end ${undoneOf(context.plan)} on time, which is ended now: ${why.message}`);
    return false;
}

/** Prints the verdict, and that the attacks stay; or waits for recovery, if they were ended. @throws as `check` */
async function conclude(context: StepContext, conclusion: Conclusion, ending?: Ending): Promise<Conclusion> {
    const { plan, cluster, stack, say } = context;
    const { verdict, code } = conclusion;
    say(verdictLine(conclusion));
    if (code !== undefined) say(`What to do: ${pageOfReason(code)}`);
    for (const line of adviceLines(conclusion)) say(line);
    if (ending && "problem" in ending) say(`The attacks could not be ended at once: ${ending.problem}`);
    else if (ending && needsDeadlineJob(plan)) await awaitRecovery(context, ending);
    if (failsUpdate(plan, verdict) || (ending && "problem" in ending)) {
        await undo(context);
        throw new Error(
            `${verdictLine(conclusion)} ${capitalized(undoneOf(plan))} is undone, and ${namesOf(plan)} succeeded ` +
                `again; the journal is ${conclusion.journal}`,
        );
    }
    if (conclusion.lasts === undefined) return conclusion;
    await moveOwn(cluster, { stack, plan }, () => leaseMoves.concluded).catch(() => undefined);
    say(`${isAttack(plan) ? "The attack stays" : "What was changed stays"} ${conclusion.lasts}`);
    return conclusion;
}

/** Counts become known with a delay: what is there is written once a second. */
const countedAfterMs = 1_200;

/** Never rejects. Tried for some time: what is counted is written every 2 s, and first some time after its start. */
async function countedSoFar({ cluster }: StepContext, one: ShownAttack): Promise<Counted | undefined> {
    const kind = attackKindOf(one.attack);
    if (kind.count === undefined) return undefined;
    const look = () => kind.count!(one, cluster).catch(() => undefined);
    return poll(look, (found) => found !== undefined, 5_000, 500);
}

/**
 * Notes what an attack has counted in the window. Adds to `seen` why there is no verdict, if nothing is known by it.
 *
 * @param before what it had counted when the window began
 */
async function count(context: StepContext, one: ShownAttack, seen: Watched, before?: Counted): Promise<void> {
    const { cluster, say } = context;
    const kind = attackKindOf(one.attack);
    const counted = async () => countedSince(before, await kind.count?.(one, cluster));
    one.counts = await counted();
    if (one.counts && kind.whyNothing?.(one.attack, one.counts)) {
        await sleep(countedAfterMs);
        one.counts = (await counted()) ?? one.counts;
    }
    if (one.counts) say(`${one.chosen.origin ?? one.name}: ${describeCounts(one.counts)}`);
    // In a run that was aborted, the counter has ended with the attack: missing counts say nothing.
    if (one.counts ?? !seen.ending) seen.reasons.push(kind.whyNothing?.(one.attack, one.counts));
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function printEstablished({ say }: StepContext, attacks: readonly ShownAttack[]): void {
    for (const { name, became } of attacks) {
        const of = attacks.length === 1 ? "" : ` of ${name}`;
        if (became?.direction)
            say(`Established connections${of} (${became.direction}): ${describeEstablished(became)}`);
    }
}

/**
 * Why the run was ABORTED by an earlier try of this step. Or the verdict of a run that has ended its attacks, and whose
 * check was interrupted while it waited for recovery: its journal was written by then. The attack is gone, so the check
 * could not be done again. Never rejects.
 *
 * @returns undefined if the lease does not say that the run was ended, or this machine has no journal of that
 */
async function keptVerdict({ cluster, plan, stack }: StepContext): Promise<Conclusion | Reason | undefined> {
    const { own } = await leaseFor(cluster, { stack, plan }).catch(() => ({ own: undefined }));
    const end = own && earlyEndOf(own);
    if (end?.aborted) return end.aborted;
    const journal = lastJournalOf(plan, stack);
    if (end === undefined || journal === undefined) return undefined;
    // An earlier run may have had the same plan.
    return end.at >= journal.startedAt && end.at <= journal.endedAt ? journal.conclusion : undefined;
}
