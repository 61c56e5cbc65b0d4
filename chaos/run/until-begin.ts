import { setTimeout as sleep } from "node:timers/promises";
import { Endpoints } from "../kinds/checks/endpoints";
import { probe } from "../kinds/checks/observe";
import { chooseRoute } from "../kinds/checks/route";
import { withoutPeriod } from "../cluster/problem";
import type { Begin } from "../definition/plan";
import { describeMilliseconds, formatDuration } from "../values/duration";
import { ReasonError } from "../values/reasons";
import { tryingAgain } from "../values/texts";
import type { StepContext } from "./contract";

const remindMs = 30_000;

/** Such as `queue length holds, for at most 5m`. */
export const describeBegin = ({ when, withinMs }: Begin): string =>
    `${when.name} holds, for at most ${formatDuration(withinMs)}`;

/**
 * Waits for what begins the run: the first good answer of a check.
 *
 * @returns how long that took, in milliseconds. Undefined if the run begins at once
 * @throws ReasonError if it does not hold in time
 */
export async function untilBegin({ plan, cluster, say }: StepContext): Promise<number | undefined> {
    const { begin, service } = plan;
    if (begin === undefined) return undefined;
    const { when, withinMs } = begin;
    say(`Waiting until ${describeBegin(begin)}`);
    const route = service && (await chooseRoute(cluster, service));
    const context = { ...plan, cluster, endpoints: new Endpoints(cluster, plan.defaultNamespace, { route }) };
    const begun = performance.now();
    const waited = () => Math.round(performance.now() - begun);
    let [problem, saidMs]: [string | undefined, number] = [undefined, 0];
    for (let waitedMs = 0; waitedMs < withinMs; waitedMs = waited()) {
        const timeoutMs = Math.min(when.timeoutMs, withinMs - waitedMs);
        const answer = await probe({ ...when, timeoutMs }, context);
        const answeredMs = waited();
        if (answer.good) {
            say(`${when.name} holds after ${describeMilliseconds(answeredMs)}: the run begins`);
            return answeredMs;
        }
        // With less time, an answer may only be missing.
        if (problem === undefined || timeoutMs === when.timeoutMs) problem = withoutPeriod(answer.problem ?? "fails");
        if (answeredMs - saidMs >= remindMs) {
            saidMs = answeredMs;
            say(`Still waiting for ${when.name} (${describeMilliseconds(answeredMs)}): ${problem}`);
        }
        await sleep(Math.min(when.intervalMs, Math.max(0, withinMs - answeredMs)));
    }
    throw new ReasonError(
        "begin-not-met",
        `${when.name} did not hold within ${formatDuration(withinMs)}: ${problem}`,
        `Bring that about while the run waits, or allow more time in begin.within, then: ${tryingAgain(plan)}`,
    );
}
