import { type Counts, describeCounts } from "../attacks/kind";
import { attackKindOf } from "../attacks/registry";
import { namesOf } from "../checks/observe";
import { statusOf } from "../cluster/client";
import { labels } from "../cluster/labels";
import { objectApi } from "../cluster/objects";
import { attacksOf, type RunAttack, targetLabelFor, undoneOf } from "../definition/plan";
import { endAttacks } from "../ending/end";
import { ofPlan } from "../ending/left";
import { AttackProofs } from "../proof/attack-proofs";
import { describeEstablished, type Established } from "../proof/established";
import type { Proven } from "../proof/outcome";
import { decisive, pageOfReason, reason, type Reason, verdictLine } from "../reasons";
import { journalOf, type Seen } from "../report/compose";
import { ReadinessRecorder } from "../report/readiness";
import type { Conclusion } from "../report/conclusion";
import { keepReport } from "../report/report";
import { labelPods } from "../targets/pods";
import { awaitRecovery, type Ending } from "./abort";
import { notSeen, whyBegunTooLate, whyRunIsOver } from "./attacks-last";
import { beginAttacks } from "./begin";
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
    const attacks = attacksOf(plan, given.steadyState.runName, chosen);
    const ended = await whyRunIsOver(plan, cluster, given);
    const kept = ended === undefined ? undefined : await keptVerdict(context);
    if (kept) return conclude(context, kept);
    const over = ended ?? (await letGo(context, given)) ?? (await beginAttacks(context, attacks, given));
    const before = over === undefined ? control : { inconclusive: over };
    const { tookMs, leftOut } = "tookMs" in before ? before : {};
    const { deadlineJob: job } = given;
    const proofs = new AttackProofs({ cluster, plan, job, attacks, baselineMs: tookMs, leftOut });
    const readiness = new ReadinessRecorder(cluster, plan.defaultNamespace);

    const proof = "inconclusive" in before ? before : await proofs.proven().catch(notSeen);
    const seen =
        "inconclusive" in proof ? seenNothing(plan, proof) : await watchWindow(context, given, proofs, proof, shiftMs);
    const proven = "inconclusive" in proof ? undefined : proof;
    const established = await establishedUnder(proofs, proven, seen);
    printEstablished(context, established);
    const counts = proven ? await countsUnder(context, attacks, seen) : [];
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
        counts,
        readiness: readiness.stop(),
    });
    keepReport(journal);

    return conclude(context, journal.conclusion, seen.ending);
};

/** Prints the verdict, and waits for the recovery of an aborted run. @throws as `check` */
async function conclude(context: StepContext, conclusion: Conclusion, ending?: Ending): Promise<Conclusion> {
    const { plan, cluster, stack, say } = context;
    const { verdict, code } = conclusion;
    say(verdictLine(conclusion));
    if (code !== undefined) say(`What to do: ${pageOfReason(code)}`);
    if (ending && "problem" in ending) say(`The attacks could not be ended at once: ${ending.problem}`);
    else if (ending) await awaitRecovery(context, ending);
    if ((plan.onFailure === "fail" && verdict !== "PASSED") || (ending && "problem" in ending)) {
        await undo(cluster, stack, plan, say);
        throw new Error(
            `${verdictLine(conclusion)} ${capitalized(undoneOf(plan))} is undone, and ${namesOf(plan)} succeeded ` +
                `again; the journal is ${conclusion.journal}`,
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
async function letGo({ plan, cluster }: StepContext, given: Given): Promise<Reason | undefined> {
    const { isPoliced, attacks: chosen, control } = given.targets;
    const { runName } = given.steadyState;
    const denying = plan.attacks.some(({ attack }) => attackKindOf(attack).denies !== undefined);
    if (!isPoliced || !denying || "inconclusive" in control) return undefined;
    let problem: Reason | undefined;
    try {
        for (const [index, planned] of plan.attacks.entries()) {
            if (attackKindOf(planned.attack).denies === undefined) continue;
            const label = { [labels.attacked]: targetLabelFor(plan, planned) };
            await labelPods(cluster, chosen[index]!.targets, () => ({ labels: label }));
        }
    } catch (error) {
        const isGone = statusOf(error) === 404 || statusOf(error) === 409;
        problem = isGone
            ? reason("target-changed", "a target was gone before its attack could begin. Start another run")
            : notSeen(error).inconclusive;
    }
    const over = await whyBegunTooLate(plan, cluster, given);
    // What fails is tried again by the undo.
    if (over !== undefined) await endAttacks(objectApi(cluster), ofPlan(plan, runName)).catch(() => undefined);
    return decisive([problem, over]);
}

/** What became of established connections; adds to `seen` why there is no verdict, if they should have been cut. */
async function establishedUnder(
    proofs: AttackProofs,
    proven: readonly Proven[] | undefined,
    seen: Seen,
): Promise<Established[]> {
    if (!proven) return [];
    const notAsked = (error: unknown) =>
        proven.map((): Established => ({ became: "unknown", reason: notSeen(error).inconclusive.message }));
    const established = await proofs.established(proven).catch(notAsked);
    seen.reasons.push(proofs.whyEstablishedNotCut(established));
    return established;
}

/** What attacks have counted, as far as is known; adds to `seen` why there is no verdict, if nothing is known by it. */
async function countsUnder(
    { cluster, say }: StepContext,
    attacks: readonly RunAttack[],
    seen: Watched,
): Promise<(Counts | undefined)[]> {
    return Promise.all(
        attacks.map(async (one) => {
            const kind = attackKindOf(one.attack);
            const counted = await kind.count?.(one, cluster);
            if (counted) say(`Through ${one.chosen.origin}: ${describeCounts(counted)}`);
            // What counts in an aborted run has ended with its attack.
            if (counted ?? !seen.ending) seen.reasons.push(kind.whyNothing?.(one.attack, counted));
            return counted;
        }),
    );
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function printEstablished({ plan, say }: StepContext, established: readonly Established[]): void {
    for (const [index, one] of established.entries()) {
        const of = plan.attacks.length === 1 ? "" : ` of ${plan.attacks[index]!.name}`;
        if (one.direction) say(`Established connections${of} (${one.direction}): ${describeEstablished(one)}`);
    }
}
