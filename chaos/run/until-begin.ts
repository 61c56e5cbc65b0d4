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
    for (let saidMs = 0; ;) {
        const { good, problem = "fails" } = await probe(when, context);
        const waitedMs = waited();
        if (good) {
            say(`${when.name} holds after ${describeMilliseconds(waitedMs)}: the run begins`);
            return waitedMs;
        }
        if (waitedMs >= withinMs)
            throw new ReasonError(
                "begin-not-met",
                `${when.name} did not hold within ${formatDuration(withinMs)}: ${withoutPeriod(problem)}`,
                `Bring that about while the run waits, or allow more time in begin.within, then: ${tryingAgain(plan)}`,
            );
        if (waitedMs - saidMs >= remindMs) {
            saidMs = waitedMs;
            say(`Still waiting for ${when.name} (${describeMilliseconds(waitedMs)}): ${withoutPeriod(problem)}`);
        }
        await sleep(Math.min(when.intervalMs, Math.max(0, withinMs - waited())));
    }
}
