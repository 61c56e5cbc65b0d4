import { isAttack } from "../../definition/plan";
import { repeating } from "../../values/texts";
import type { Advice } from "../conclusion";
import type { Journal } from "../journal-schema";
import type { AdviceKind } from "./advice-kind";
import type { Facts } from "./facts";
import { noBudget } from "./no-budget";
import { noReadinessProbe } from "./no-readiness-probe";
import { oneReplica } from "./one-replica";
import { oneZone } from "./one-zone";
import { slowReadiness } from "./slow-readiness";
import { stopsAtOnce } from "./stops-at-once";

const kinds: readonly AdviceKind[] = [oneReplica, slowReadiness, oneZone, noBudget, noReadinessProbe, stopsAtOnce];

const most = 3;

/**
 * What would have made a run pass that FAILED, as far as it follows from what was seen. Mostly nothing does: an action
 * may be the cause as well as the attack.
 */
export function adviceOn(journal: Journal, facts: Facts | undefined): Advice[] {
    const { plan, conclusion } = journal;
    if (conclusion.verdict !== "FAILED" || !isAttack(plan) || plan.actions.length > 0 || !facts) return [];
    // A change of its template would wait.
    if (facts.spec.paused) return [];
    // It is not known when pods of other namespaces were ready.
    if (plan.namespace !== plan.defaultNamespace) return [];
    const found = kinds.flatMap((kind) => unlessFaulty(kind)(journal, facts) ?? []);
    return found.slice(0, most).map((advice) => ({ ...advice, experiment: repeating(plan) }));
}

/** A fault in an advice must not cost the verdict: then that advice is not given. */
const unlessFaulty =
    (kind: AdviceKind): AdviceKind =>
    (journal, facts) => {
        try {
            return kind(journal, facts);
        } catch {
            return undefined;
        }
    };
