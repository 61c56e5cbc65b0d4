import type { Answer } from "../../kinds/checks/answer";
import { answersToHold } from "../../kinds/checks/observe";
import { describeMilliseconds } from "../../values/duration";
import { greatestOf, leastOf } from "../../values/extremes";
import type { Journal } from "../journal-schema";
import type { Facts } from "./facts";
import { answeredIn, answeredOutside, failedChecks, killsIn, type Span, wouldHold } from "./failed-answers";

/** Pods of one round are removed within this time, in milliseconds. */
export const roundMs = 1_000;

/**
 * From each removal of pods until the last request that failed after it. Removals after which none failed are left out.
 *
 * @returns undefined unless these times explain the verdict, and requests succeeded again before the next removal
 */
export function spansAfterRemovals(journal: Journal): Span[] | undefined {
    const kills = killsIn(journal);
    const rounds = kills.filter(({ at }, index) => index === 0 || at - kills[index - 1]!.at >= roundMs);
    const checks = failedChecks(journal).map(({ counted }) => counted);
    const spans: Span[] = [];
    for (const [index, { at: from }] of rounds.entries()) {
        const next = rounds[index + 1]?.at ?? Infinity;
        // A removed pod may have had a request that was sent before.
        const endOf = ({ at, latencyMs }: Answer) => at + latencyMs;
        const failed = checks.flat().filter((one) => !one.good && endOf(one) >= from && endOf(one) < next);
        if (failed.length === 0) continue;
        const times = failed.map(({ at }) => at);
        const to = greatestOf(times) + 1;
        const after = checks.map((answers) => answers.filter(({ at }) => at >= to && at < next));
        if (after.some((answers) => answers.length < answersToHold)) return undefined;
        spans.push({ from: Math.min(from, leastOf(times)), to });
    }
    return wouldHold(journal, spans) ? spans : undefined;
}

export const longestOf = (spans: readonly Span[]): number => greatestOf(spans.map(({ from, to }) => to - from));

/** Such as `3 pods of Deployment hot-deals were removed while others were ready. For up to 400 ms after that, …`. */
export function describeRemovals(journal: Journal, { name }: Facts, spans: readonly Span[]): string {
    const { length } = killsIn(journal);
    const [pods, were] = length === 1 ? ["pod", "was"] : ["pods", "were"];
    const within = `For up to ${describeMilliseconds(longestOf(spans))} after that, ${answeredIn(journal, spans)}`;
    return (
        `${length} ${pods} of Deployment ${name} ${were} removed while others were ready. ${within}; at other times, ` +
        answeredOutside(journal, spans)
    );
}
