import { type AdviceKind, patchCommand, templateWith } from "./advice-kind";
import { spansWithoutReadyPod } from "./failed-answers";
import { describeRemovals, longestOf, spansAfterRemovals } from "./removals";
import { stoppingGracefully } from "./stop-gracefully";

/** For longer than this, in milliseconds, no Service leads to a pod that is gone. */
const maxReroutedMs = 2_000;

/** Requests failed only right after pods were removed, though others were ready; the removed ones stop at once. */
export const stopsAtOnce: AdviceKind = (journal, facts) => {
    const { changes, without } = stoppingGracefully(facts) ?? {};
    if (!changes || spansWithoutReadyPod(journal).length > 0) return undefined;
    // Without a probe, the replacements may be the cause.
    if (!facts.spec.template.spec!.containers.some(({ readinessProbe }) => readinessProbe)) return undefined;
    const spans = spansAfterRemovals(journal);
    if (spans === undefined || longestOf(spans) > maxReroutedMs) return undefined;
    return {
        seen: `${describeRemovals(journal, facts, spans)}. There is no preStop hook in ${without!.join(", ")}`,
        change: "Let each pod serve for 5 s while it stops",
        command: patchCommand(facts, { template: templateWith(facts, changes) }),
    };
};
