import { performAll, type Performed } from "../actions/perform";
import { objectTypeOf } from "../attacks/objects";
import { attackKindOf } from "../attacks/registry";
import { ApiServerPulse } from "../checks/api-server";
import { askThrough, clockShift, look, namesOf } from "../checks/observe";
import { type Cluster, ignoreNotFound, reasonOf } from "../cluster/client";
import { describeMilliseconds } from "../duration";
import type { Plan } from "../definition/plan";
import { undo } from "../lifecycle/undo";
import { AttackProofs } from "../proof/attack-proofs";
import { describeEstablished, type Established } from "../proof/established";
import type { Inconclusive, InconclusiveReason, Proven } from "../proof/outcome";
import { journalOf, type Seen } from "../report/compose";
import { ReadinessRecorder } from "../report/readiness";
import { keepReport } from "../report/report";
import { AbortWatch, endAttacks, type Ending, reportRecovery } from "./abort";
import type { LabeledTargets, SteadyState, Step, StepContext, StepInputs } from "./contract";
import { AnswerProgress } from "./progress";

type Given = Pick<StepInputs, "steadyState" | "targets" | "deadlineJob" | "attackObjects">;

/** A clock that is corrected little by little moves by less, in milliseconds. */
const maxShiftMs = 1_000;

/**
 * Proves the attacks, has the checks look through the window while the actions are performed, proves the attacks again,
 * and gives the verdict. If a check's abort rule ends the window, it also ends the attacks.
 *
 * @throws Error with the verdict, if the plan wants a verdict other than PASSED to fail the update, or if the attacks
 *   of an aborted run could not be ended at the first try
 */
export const check: Step<"check", keyof Given> = async (context, given) => {
    const { plan, cluster, say } = context;
    const startedAt = Date.now();
    const shiftMs = clockShift();
    const { attacks: chosen, control } = given.targets;
    const over = await reasonWhyOver(plan, cluster, given.attackObjects);
    const before = over === undefined ? control : { inconclusive: over };
    const { tookMs, leftOut } = "tookMs" in before ? before : {};
    const proofs = new AttackProofs({ cluster, plan, job: given.deadlineJob, chosen, baselineMs: tookMs, leftOut });
    const readiness = new ReadinessRecorder(cluster, plan.defaultNamespace);

    const proof = "inconclusive" in before ? before : await proofs.proven().catch(notSeen);
    const seen =
        "inconclusive" in proof ? seenNothing(plan, proof) : await observe(context, given, proofs, proof, shiftMs);
    const proven = "inconclusive" in proof ? undefined : proof;
    const established = await establishedUnder(proofs, proven, seen);
    tellEstablished(context, established);
    // Kills are shown beside the verdict, which does not rest on them.
    const kills = await proofs.kills().catch(() => []);
    const journal = journalOf(plan, {
        stack: context.stack,
        startedAt,
        chosen,
        proven,
        seen,
        kills,
        established,
        readiness: readiness.stop(),
    });
    keepReport(journal);

    const { verdict, reason } = journal.conclusion;
    say(`${verdict}: ${reason}`);
    const { ending } = seen;
    if (ending && "problem" in ending) say(`The attacks could not be ended at once: ${ending.problem}`);
    else if (ending) await reportRecovery(context, journal, ending);
    if ((plan.onFailure === "fail" && verdict !== "PASSED") || (ending && "problem" in ending)) {
        await undo(cluster, context.stack, plan, say);
        throw new Error(
            `${verdict}: ${reason} The attack is undone, and ${namesOf(plan)} succeeded again; the journal is ` +
                journal.conclusion.journal,
        );
    }
    return journal.conclusion;
};

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

function tellEstablished({ plan, say }: StepContext, established: readonly Established[]): void {
    for (const [index, one] of established.entries()) {
        const of = plan.attacks.length === 1 ? "" : ` of ${plan.attacks[index]!.name}`;
        if (one.direction) say(`Established connections${of} (${one.direction}): ${describeEstablished(one)}`);
    }
}

/** What was seen, and how the attacks were ended if the run was aborted. */
type Watched = Seen & { ending?: Ending };

function seenNothing({ checks }: Plan, { inconclusive }: Inconclusive): Watched {
    return { checks: checks.map(({ name }) => ({ name, answers: [] })), actions: [], inconclusive };
}

/** Watches the application through grace and window, and makes sure that nothing spoils the verdict. */
async function observe(
    context: StepContext,
    { steadyState, targets, attackObjects }: Given,
    proofs: AttackProofs,
    proven: readonly Proven[],
    shiftMs: () => number,
): Promise<Watched> {
    const { plan, cluster, say } = context;
    const lengthMs = plan.window.graceMs + plan.window.durationMs;
    const whole = describeMilliseconds(lengthMs);
    say(`Proven: ${describeProven(plan, targets.attacks)}. Checking ${namesOf(plan)} for ${whole}`);
    const progress = new AnswerProgress(context, plan.checks.length > 1);
    const pulse = pulseOf(plan, cluster, steadyState);
    const where = { ...plan, cluster, route: steadyState.route, pulse };
    const watch = new AbortWatch(context, Math.max(...proven.map(({ attackedAt }) => attackedAt)));
    const { signal } = watch;
    const asking = plan.checks.map(async (planned) => {
        const ask = () => progress.count(planned.name, look(planned, where));
        const onAnswer = watch.follow(planned);
        const answers = await askThrough(ask, lengthMs, planned.intervalMs, { onAnswer, signal });
        return { name: planned.name, answers };
    });
    const asked = Promise.all(asking).finally(() => pulse?.stop());
    const attacksLast = () => attacksExist(plan, cluster, attackObjects);
    const [actions, held] = await Promise.all([
        performAll(plan.actions, cluster, plan.namespace, attacksLast, say, signal),
        proofs.whyNotHeld(proven, Date.now() + lengthMs, signal).catch((error: unknown) => notSeen(error).inconclusive),
    ]);
    const aborted = watch.end();
    // The attacks of an aborted run do not wait for the last answers.
    if (aborted === undefined) await asked;
    const inconclusive =
        // First, since it may be what the proof suffers from.
        shiftedClock(shiftMs()) ?? held ?? failedAction(actions) ?? (await reasonWhyOver(plan, cluster, attackObjects));
    const ending = aborted && (await endAttacks(context));
    const endedAt = ending && "at" in ending ? ending.at : undefined;
    const checks = await asked;
    return { checks, actions, inconclusive, ...(aborted && { aborted: { ...aborted, endedAt }, ending }) };
}

/** Answers are counted by the clock. */
function shiftedClock(shiftMs: number): InconclusiveReason | undefined {
    const by = describeMilliseconds(Math.abs(shiftMs));
    if (shiftMs > maxShiftMs) return `this machine slept for ${by} during the run, or its clock was set forward`;
    return shiftMs < -maxShiftMs ? `this machine's clock was set back by ${by} during the run` : undefined;
}

/** Watches the API server if the checks ask the Service through it. */
function pulseOf({ service, checks }: Plan, cluster: Cluster, { route }: SteadyState): ApiServerPulse | undefined {
    if (service === undefined || route?.kind !== "apiServer") return undefined;
    const limits = checks.map(({ check, timeoutMs }) =>
        check.kind === "http" ? Math.min(timeoutMs, check.maxLatencyMs ?? timeoutMs) : timeoutMs,
    );
    return new ApiServerPulse(cluster, service, Math.min(...limits));
}

function failedAction(actions: readonly Performed[]): InconclusiveReason | undefined {
    const failed = actions.find(({ problem }) => problem !== undefined);
    return failed && `it was not possible to ${failed.action}: ${failed.problem!.replace(/\.$/, "")}`;
}

/** A cluster that cannot be asked shows nothing: that is a verdict, too, not a failed update. */
const notSeen = (error: unknown) => ({
    inconclusive: `the cluster could not be asked: ${reasonOf(error).replace(/\.$/, "")}`,
});

/** Why the attacks are over, or why that is unknown. Undefined while they last. */
async function reasonWhyOver(
    plan: Plan,
    cluster: Cluster,
    objects: readonly string[],
): Promise<InconclusiveReason | undefined> {
    try {
        if (await attacksExist(plan, cluster, objects)) return undefined;
    } catch (error) {
        return notSeen(error).inconclusive;
    }
    // The engine runs a check again that was killed, or that failed the update. Its attack is over by then.
    const { run } = plan;
    return (
        `the attack of run ${run} has already ended, by its deadline or an earlier update. Start another run: ` +
        `pulumi config set experiment.run '${run} again'`
    );
}

async function attacksExist(
    { attacks, namespace }: Plan,
    cluster: Cluster,
    objects: readonly string[],
): Promise<boolean> {
    const found = await Promise.all(
        attacks.map(({ attack }, index) =>
            ignoreNotFound(objectTypeOf(attack).read(cluster, { name: objects[index]!, namespace })),
        ),
    );
    return found.every((object) => object !== undefined);
}

/** The targets of each attack, and what is done to them, as a part of a sentence. */
function describeProven({ attacks }: Plan, chosen: LabeledTargets["attacks"]): string {
    const each = attacks.map(({ attack }, index) => {
        const pods = chosen[index]!.targets.map(({ pod }) => pod);
        return `${pods.join(", ")} ${pods.length === 1 ? "is" : "are"} ${attackKindOf(attack).describe(attack)}`;
    });
    return each.join("; ");
}
