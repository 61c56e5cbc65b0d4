import { quote } from "shlex";
import { attackKindOf } from "../../kinds/attacks/registry";
import { selects } from "../../cluster/label-selector";
import { describeMilliseconds } from "../../values/duration";
import { type AdviceKind, patchCommand, templateWith } from "./advice-kind";
import { describeOutage, spansWithoutReadyPod, wouldHold } from "./failed-answers";
import { roundMs } from "./removals";
import { stoppingGracefully } from "./stop-gracefully";

/** All pods were evicted at once, and no PodDisruptionBudget selects them. */
export const noBudget: AdviceKind = (journal, facts) => {
    const { attack } = journal.plan.attacks[0]!;
    const { kills = [] } = journal.attacks[0]!;
    const { name, spec, budgets, kubectl } = facts;
    const { matchLabels = {}, matchExpressions = [] } = spec.selector;
    const labels = spec.template.metadata?.labels ?? {};
    if (attackKindOf(attack).isBudgeted?.(attack) !== true || matchExpressions.length > 0) return undefined;
    const isInTheWay = budgets?.some(
        (one) => one.metadata!.name === name || (one.spec?.selector && selects(one.spec.selector, labels)),
    );
    if (isInTheWay !== false) return undefined;
    const atOnce = kills.filter(({ at }) => at - kills[0]!.at < roundMs);
    const stopping = stoppingGracefully(facts);
    const spans = spansWithoutReadyPod(journal);
    if (atOnce.length < 2 || atOnce.length < (spec.replicas ?? 1)) return undefined;
    if (stopping === undefined || !wouldHold(journal, spans)) return undefined;
    const selected = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
    const options = `--selector=${quote(selected.join())} --max-unavailable=1`;
    const { change, changes } = stopping;
    const stop = changes ? [patchCommand(facts, { template: templateWith(facts, changes) })] : [];
    return {
        seen:
            `All ${atOnce.length} pods of Deployment ${name} were evicted within ` +
            `${describeMilliseconds(atOnce.at(-1)!.at - atOnce[0]!.at)}; no PodDisruptionBudget selects them. It had ` +
            describeOutage(journal, spans),
        change: `Have a PodDisruptionBudget let one pod be evicted at a time${change}`,
        command: [`${kubectl} create poddisruptionbudget ${name} ${options}`, ...stop].join(" && "),
    };
};
