import { type Baseline, describeLimit, outcomesOf } from "../kinds/checks/change-limits";
import type { Answer } from "../kinds/checks/answer";
import type { KnownRoutes } from "../kinds/checks/endpoints";
import { askThrough, latencyLimitOf, namesOf, type PlannedCheck, probe } from "../kinds/checks/observe";
import { longestBaselineMs } from "../definition/change-mistakes";
import { isAttack } from "../definition/plan";
import { type BaselineFault, baselineFault, type ChangeLimit, type Outcome, quantiles } from "../values/compared";
import { describeMilliseconds, formatDuration } from "../values/duration";
import { ReasonError } from "../values/reasons";
import { describeShare, percentOf, reaches } from "../values/share";
import { checksContext } from "./checks-context";
import type { StepContext } from "./contract";
import { AnswerProgress } from "./step-progress";

/**
 * Measures the checks that are compared with before the attack, as the window does: their requests are due at the same
 * interval, and are sent over the same routes. It is a part of the first step: nothing is made in the cluster by then,
 * neither pods that would take from what is measured, nor anything to end.
 *
 * @returns undefined if no check is compared
 * @throws ReasonError if a comparison with what was measured could show nothing
 */
export async function measureBaseline(
    context: StepContext,
    known: KnownRoutes & { pass: string },
): Promise<Baseline[] | undefined> {
    const { plan, say } = context;
    if (plan.baseline === undefined) return undefined;
    const { durationMs } = plan.baseline;
    const compared = plan.checks.filter(({ limits }) => limits !== undefined);
    const when = isAttack(plan) ? "the attack" : "the checks";
    say(`Measuring ${namesOf({ checks: compared })} before ${when} for ${describeMilliseconds(durationMs)}`);
    // The file has answers of the window only.
    const progress = new AnswerProgress({ ...context, answersFile: undefined }, compared.length > 1);
    const where = await checksContext(context, known);
    const measured = compared.map(async (planned) => {
        const ask = () => probe(planned, where);
        const onAnswer = (answer: Answer) => progress.count(planned.name, answer);
        const limitMs = latencyLimitOf(planned);
        const answers = await askThrough(ask, durationMs, planned.intervalMs, { limitMs, onAnswer });
        return { name: planned.name, at: answers[0]!.at, outcomes: outcomesOf(answers) };
    });
    const baseline = await Promise.all(measured).finally(() => where.pulse?.stop());
    const mostMs = longestBaselineMs(compared);
    for (const [index, { outcomes }] of baseline.entries()) requireSteady(compared[index]!, outcomes, mostMs);
    return baseline;
}

/**
 * @param mostMs the longest that a baseline may be
 * @throws ReasonError if a check did not hold before the attack, or its answers are nothing to compare others with
 */
function requireSteady(
    { name, intervalMs, successRate, limits = [] }: PlannedCheck,
    outcomes: readonly Outcome[],
    mostMs: number,
): void {
    const all = outcomes.length;
    const good = outcomes.filter((outcome) => typeof outcome !== "string").length;
    const unseen = outcomes.filter((outcome) => outcome === "unseen").length;
    if (successRate !== undefined && !reaches(successRate, good + unseen, all)) {
        const rate = `${percentOf(good, all)} of ${all} probes of ${name} succeeded before the attack`;
        const message = `there is no steady state: ${rate} (required: ${describeShare(successRate)})`;
        throw new ReasonError("no-steady-state", message, "Repair the application first, or lower the success rate");
    }
    for (const limit of limits) {
        const fault = baselineFault(outcomes, limit);
        if (fault === undefined) continue;
        const message = `${name} cannot be compared with before the attack: ${describeFault(limit, all, fault)}`;
        throw new ReasonError("baseline-unsteady", message, adviceOn(limit, { intervalMs, all, mostMs }, fault));
    }
}

function describeFault(limit: ChangeLimit, all: number, fault: BaselineFault): string {
    const { independent, needed, bad, unseen, isTooFast } = fault;
    const notGood = `${bad + unseen} of ${all} answers were bad or unseen, too many`;
    if ("atMostLess" in limit) return `${notGood} to show a drop of more than ${describeLimit(limit)}`;
    if (isTooFast)
        return (
            `too many of ${all} answers took less than 1 ms, or some did in one spell, or may have without the delay ` +
            `of this machine, to compare its ${limit.of} by a factor`
        );
    if (independent >= needed) return `${notGood} for its ${limit.of}`;
    const slower = describeShare(1 - quantiles[limit.of]);
    return (
        `the slowest ${slower} of ${all} answers lie unevenly in the baseline, which counts as ${independent} ` +
        `independent answers for its ${limit.of} (required: ${needed})`
    );
}

function adviceOn(
    limit: ChangeLimit,
    { intervalMs, all, mostMs }: { intervalMs: number; all: number; mostMs: number },
    { independent, needed, bad, unseen, isTooFast }: BaselineFault,
): string {
    if (isTooFast) return "Limit it by a time, such as +20ms, or run it on a machine that is less busy";
    if (independent >= needed || "atMostLess" in limit) {
        return bad >= unseen ? "Repair the application first" : "Find out why they do not reach the application";
    }
    // With no more than it takes, half of the baselines would be unsteady again.
    const enoughMs = Math.ceil((2 * all * needed * intervalMs) / Math.max(1, independent) / 1_000) * 1_000;
    const slow = "what makes the application, or this machine, slow at times";
    if (enoughMs > mostMs)
        return (
            `Find out ${slow}: if it goes on like this, no baseline may be enough ` +
            `(at most ${formatDuration(mostMs)})`
        );
    const enough = formatDuration(enoughMs);
    return `Measure longer: a baseline of ${enough} may be enough, if it goes on like this; or find out ${slow}`;
}
