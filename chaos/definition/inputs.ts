import { describeLimit } from "../kinds/checks/change-limits";
import { writtenConfidence } from "../kinds/checks/confidence";
import type { PlannedCheck } from "../kinds/checks/observe";
import { formatDuration } from "../values/duration";
import { describeShare } from "../values/share";
import type { Radius } from "../targets/radius";
import type { Plan, PlannedAttack } from "./plan";

/**
 * What a run does, as a person writes it, completed by the settings: the inputs that a preview shows of an experiment,
 * so that the diff of a changed one shows what has changed. Nothing in a plan is secret.
 */
export function inputsOf(plan: Plan) {
    const { experiment, run, hypothesis, context, namespace, attacks, checks, actions, begin, window, onFailure } =
        plan;
    return {
        experiment,
        run,
        hypothesis,
        context,
        namespace,
        attacks: attacks.map(writtenAttack),
        checks: checks.map(writtenCheck),
        actions,
        ...(begin && { begin: { when: begin.when.check, within: formatDuration(begin.withinMs) } }),
        window: { duration: formatDuration(window.durationMs), grace: formatDuration(window.graceMs) },
        ...(plan.baseline && { baseline: { duration: formatDuration(plan.baseline.durationMs) } }),
        deadline: formatDuration(plan.deadlineMs),
        until: plan.until ?? "verdict",
        onFailure,
    };
}

const writtenAttack = ({ attack, name: _, radius, ...options }: PlannedAttack) => ({
    ...attack,
    ...options,
    radius: writtenRadius(radius),
});

function writtenRadius(radius: Radius): number | string {
    if (radius.kind === "count") return radius.containers;
    return radius.kind === "all" ? "all" : describeShare(radius.share);
}

const writtenCheck = ({
    check,
    name,
    intervalMs,
    timeoutMs,
    successRate,
    limits,
    confidence,
    abort,
}: PlannedCheck) => ({
    ...check,
    name,
    ...(check.perSecond === undefined && { interval: formatDuration(intervalMs) }),
    timeoutMs,
    ...(successRate !== undefined && { successRate: describeShare(successRate) }),
    ...(limits && { limits: limits.map((limit) => `${limit.of}: ${describeLimit(limit)}`) }),
    ...(confidence && { confidence: writtenConfidence(confidence) }),
    ...(abort && { abort: { ...abort } }),
});
