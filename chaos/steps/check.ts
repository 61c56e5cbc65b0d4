import { attackKindOf, throughOf } from "../attacks/registry";
import { namesOf } from "../checks/observe";
import { statusOf } from "../cluster/client";
import { labels } from "../cluster/labels";
import { objectApi } from "../cluster/objects";
import { targetLabelFor, undoneOf } from "../definition/plan";
import { endAttacks } from "../ending/end";
import { ofPlan } from "../ending/left";
import { AttackProofs } from "../proof/attack-proofs";
import { describeEstablished, type Established } from "../proof/established";
import type { InconclusiveReason, Proven } from "../proof/outcome";
import { describeFaulted, type Faulted, readFaulted, whyHitNobody } from "../proof/proxy-counts";
import { journalOf, type Seen } from "../report/compose";
import { ReadinessRecorder } from "../report/readiness";
import type { Conclusion } from "../report/conclusion";
import { keepReport } from "../report/report";
import { labelPods } from "../targets/pods";
import { awaitRecovery, type Ending } from "./abort";
import { notSeen, whyBegunTooLate, whyRunIsOver } from "./attacks-last";
import { beginFaults } from "./begin-faults";
import type { Step, StepContext, StepInputs } from "./contract";
import { keptVerdict } from "./kept-verdict";
import { dismissWitness } from "./other-policies";
import { undo } from "./recovery";
import { clockShift, seenNothing, type Watched, watchWindow } from "./window";

type Given = Pick<StepInputs, "steadyState" | "targets" | "deadlineJob" | "attackObjects">;

/**
 * Proves the attacks, has the checks look through the window while the actions are performed, proves the attacks again,
 * and gives the verdict. If a check's abort rule ends the window, it also ends the attacks.
 *
 * @throws Error with the verdict, if the plan wants a verdict other than PASSED to fail the update, or if the attacks
 *   of an aborted run could not be ended at the first try
 */
export const check: Step<"check", keyof Given> = async (context, given) => {
    const { plan, cluster } = context;
    const startedAt = Date.now();
    const shiftMs = clockShift();
    const { attacks: chosen, control } = given.targets;
    const ended = await whyRunIsOver(plan, cluster, given);
    const kept = ended === undefined ? undefined : await keptVerdict(context);
    if (kept) return conclude(context, kept);
    const over = ended ?? (await letGo(context, given)) ?? (await beginFaults(context, given));
    const before = over === undefined ? control : { inconclusive: over };
    const { tookMs, leftOut } = "tookMs" in before ? before : {};
    const { deadlineJob: job, attackObjects: objects } = given;
    const proofs = new AttackProofs({ cluster, plan, job, chosen, objects, baselineMs: tookMs, leftOut });
    const readiness = new ReadinessRecorder(cluster, plan.defaultNamespace);

    const proof = "inconclusive" in before ? before : await proofs.proven().catch(notSeen);
    const seen =
        "inconclusive" in proof ? seenNothing(plan, proof) : await watchWindow(context, given, proofs, proof, shiftMs);
    const proven = "inconclusive" in proof ? undefined : proof;
    const established = await establishedUnder(proofs, proven, seen);
    tellEstablished(context, established);
    const faulted = proven ? await faultedUnder(context, given, seen) : [];
    // Kills are shown beside the verdict, which does not rest on them.
    const kills = await proofs.kills().catch(() => []);
    if (given.targets.isPoliced) await dismissWitness(cluster, plan);
    const journal = journalOf(plan, {
        stack: context.stack,
        startedAt,
        chosen,
        proven,
        seen,
        kills,
        established,
        faulted,
        readiness: readiness.stop(),
    });
    keepReport(journal);

    return conclude(context, journal.conclusion, seen.ending);
};

/** Tells the verdict, and waits for the recovery of an aborted run. @throws as `check` */
async function conclude(context: StepContext, conclusion: Conclusion, ending?: Ending): Promise<Conclusion> {
    const { plan, cluster, stack, say } = context;
    const { verdict, reason } = conclusion;
    say(`${verdict}: ${reason}`);
    if (ending && "problem" in ending) say(`The attacks could not be ended at once: ${ending.problem}`);
    else if (ending) await awaitRecovery(context, ending);
    if ((plan.onFailure === "fail" && verdict !== "PASSED") || (ending && "problem" in ending)) {
        await undo(cluster, stack, plan, say);
        throw new Error(
            `${verdict}: ${reason} ${capitalized(undoneOf(plan))} is undone, and ${namesOf(plan)} succeeded again; ` +
                `the journal is ${conclusion.journal}`,
        );
    }
    return conclusion;
}

/**
 * In a namespace with other policies: labels the targets, so that these policies let go of them, now that the attacks'
 * policies are there. Until then nobody may do more than before.
 *
 * @returns why the attacks are over: they may have been ended at this moment, and then no target keeps the label
 */
async function letGo({ plan, cluster }: StepContext, given: Given): Promise<InconclusiveReason | undefined> {
    const { isPoliced, attacks: chosen, control } = given.targets;
    const { runName } = given.steadyState;
    const denying = plan.attacks.some(({ attack }) => attackKindOf(attack).denies !== undefined);
    if (!isPoliced || !denying || "inconclusive" in control) return undefined;
    let problem: InconclusiveReason | undefined;
    try {
        for (const [index, planned] of plan.attacks.entries()) {
            if (attackKindOf(planned.attack).denies === undefined) continue;
            const label = { [labels.attacked]: targetLabelFor(plan, planned) };
            await labelPods(cluster, chosen[index]!.targets, () => label);
        }
    } catch (error) {
        const isGone = statusOf(error) === 404 || statusOf(error) === 409;
        problem = isGone
            ? "a target is gone, or was replaced, before its attack could begin. Start another run"
            : notSeen(error).inconclusive;
    }
    const over = await whyBegunTooLate(plan, cluster, given);
    // What fails is tried again by the undo.
    if (over !== undefined) await endAttacks(objectApi(cluster), ofPlan(plan, runName)).catch(() => undefined);
    return problem ?? over;
}

/** What became of established connections, and in `seen` why there is no verdict, if they should have been cut. */
async function establishedUnder(
    proofs: AttackProofs,
    proven: readonly Proven[] | undefined,
    seen: Seen,
): Promise<Established[]> {
    if (!proven) return [];
    const notAsked = (error: unknown) =>
        proven.map((): Established => ({ became: "unknown", reason: notSeen(error).inconclusive }));
    const established = await proofs.established(proven).catch(notAsked);
    seen.inconclusive ??= proofs.whyEstablishedNotCut(established);
    return established;
}

/** What each fault has hit, as far as is known, and in `seen` why there is no verdict, if it has hit nobody. */
async function faultedUnder(
    { plan, cluster, say }: StepContext,
    { targets, attackObjects }: Given,
    seen: Watched,
): Promise<(Faulted | undefined)[]> {
    const faulted = await Promise.all(
        plan.attacks.map(async ({ attack }, index) =>
            throughOf(attack)
                ? readFaulted(
                      cluster,
                      { name: attackObjects[index]!, namespace: plan.namespace },
                      targets.attacks[index]!.targets,
                  )
                : undefined,
        ),
    );
    for (const [index, found] of faulted.entries()) {
        const through = throughOf(plan.attacks[index]!.attack);
        if (!through) continue;
        if (found) say(`Through Service ${through.service}: ${describeFaulted(found)}`);
        // The proxy of an aborted run has ended with its attack.
        else if (seen.ending) continue;
        seen.inconclusive ??= whyHitNobody(found, through.service, through.percentage / 100);
    }
    return faulted;
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function tellEstablished({ plan, say }: StepContext, established: readonly Established[]): void {
    for (const [index, one] of established.entries()) {
        const of = plan.attacks.length === 1 ? "" : ` of ${plan.attacks[index]!.name}`;
        if (one.direction) say(`Established connections${of} (${one.direction}): ${describeEstablished(one)}`);
    }
}
