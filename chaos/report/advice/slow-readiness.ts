import { attackKindOf } from "../../kinds/attacks/registry";
import { answersToHold } from "../../kinds/checks/observe";
import { onePerPod } from "../../targets/pods";
import { sinceAttack } from "../../values/since";
import { type AdviceKind, patchCommand } from "./advice-kind";
import { answeredIn, failedChecks } from "./failed-answers";

/** For how long requests may still be led to a pod that is not ready any more, in milliseconds. */
const reroutedMs = 1_000;

/**
 * Requests failed until the attacked pods left their Service, and succeeded from then on, still under attack: their
 * readiness probe took longer than the grace period.
 */
export const slowReadiness: AdviceKind = (journal, facts) => {
    const { plan, attackedAt, endedAt, readiness } = journal;
    const { attack } = plan.attacks[0]!;
    const pods = onePerPod(journal.attacks[0]!.targets).map(({ pod }) => pod);
    if (attackedAt === undefined || attackKindOf(attack).denies === undefined) return undefined;
    if ((facts.spec.replicas ?? 1) <= pods.length) return undefined;
    const left = pods.map((name) => readiness.find(({ at, pod, ready }) => pod === name && !ready && at >= attackedAt));
    if (left.includes(undefined)) return undefined;
    const leftAt = Math.max(...left.map((one) => one!.at));
    const until = { from: attackedAt + plan.window.graceMs, to: leftAt + reroutedMs };
    const after = { from: until.to, to: endedAt };
    const haveRecovered = failedChecks(journal).every(({ exceeds, counted }) => {
        const later = counted.filter(({ at }) => at >= after.from);
        const hasFailed = counted.some(({ at, good, unseen }) => at < after.from && !good && !unseen);
        // What would have been the change with another probe is not known.
        return !exceeds && hasFailed && later.length >= answersToHold && later.every(({ good }) => good);
    });
    const [probed, ...others] = facts.spec.template.spec!.containers.filter((one) => one.readinessProbe);
    if (!haveRecovered || probed === undefined || others.length > 0) return undefined;
    const { periodSeconds = 10, failureThreshold = 3, timeoutSeconds = 1 } = probed.readinessProbe!;
    // Something else has made it not ready if it was sooner.
    if (leftAt - attackedAt < (failureThreshold - 1) * periodSeconds * 1_000) return undefined;
    // The first is sent within a second, and each may take until its time limit.
    const secondsOf = (failures: number) => 1 + failures * Math.max(1, timeoutSeconds);
    const failures = [failureThreshold, 2].find(
        (one) => one <= failureThreshold && secondsOf(one) * 1_000 + reroutedMs <= plan.window.graceMs,
    );
    if (failures === undefined || secondsOf(failures) >= failureThreshold * periodSeconds) return undefined;
    const readinessProbe = { periodSeconds: 1, failureThreshold: failures };
    return {
        seen:
            `${pods.join(", ")} stayed ready until ${sinceAttack(leftAt - attackedAt)}: the readiness probe of ` +
            `${probed.name} is sent every ${periodSeconds} s, and must fail ${failureThreshold} times. After the ` +
            `grace period and until 1 s later, ${answeredIn(journal, [until])}; then ${answeredIn(journal, [after])}`,
        change:
            `Send the readiness probe every second, and let ${failures} failures be enough: at most ` +
            `${secondsOf(failures)} s, which is within the grace period`,
        command: patchCommand(facts, { template: { spec: { containers: [{ name: probed.name, readinessProbe }] } } }),
    };
};
