import { type AbortContradiction, contradictionsIn, type AbortRule, abortRuleOf } from "../../chaos/checks/abort";
import type { CheckSettings } from "../../chaos/checks/kind";
import { formatDuration } from "../../chaos/duration";
import { describeShare, type Share } from "../../chaos/share";
import { type Mistake, setCommand } from "./mistakes";
import type { Key, KnownExperiment, Values } from "./settings";

/**
 * What the abort rules of an experiment's checks contradict in the settings, each setting once. What a check
 * contradicts by itself is told as a mistake in its experiment.
 *
 * @param experiment the saved experiment, if there is one
 */
export function abortRuleOfCheck({ get, experiment }: { get: Values; experiment?: KnownExperiment }) {
    const [durationMs, intervalMs] = [get("experiment.duration"), get("experiment.interval")];
    const successRate = get("experiment.successRate");
    if (durationMs === undefined || intervalMs === undefined || successRate === undefined) return;
    const mistakes = (experiment?.checks ?? [{}]).flatMap((check: CheckSettings) => {
        const rule = abortRuleOf(check, get("experiment.abortBelow"));
        const completed = {
            durationMs,
            intervalMs: check.perSecond === undefined ? intervalMs : 1_000 / check.perSecond,
            successRate: check.successRate ?? successRate,
        };
        if (rule === undefined) return [];
        return contradictionsIn(rule, completed).flatMap((fault) => abortMistake(fault, rule, check, completed) ?? []);
    });
    return mistakes.filter(({ key }, index) => mistakes.findIndex((other) => other.key === key) === index);
}

function abortMistake(
    { against, reason }: AbortContradiction,
    { below, overMs }: AbortRule,
    check: CheckSettings,
    { durationMs, intervalMs, successRate }: { durationMs: number; intervalMs: number; successRate: Share },
): Mistake | undefined {
    const mistake = (key: Key, value: string, allowed: string, better: string) => ({
        key,
        value,
        reason: `${reason}; allowed: ${allowed}`,
        command: setCommand(key, better),
    });
    const [over, limit, rate] = [formatDuration(overMs), describeShare(below), describeShare(successRate)];
    switch (against) {
        case "durationMs":
            return mistake("experiment.duration", formatDuration(durationMs), `at least ${over}`, over);
        case "intervalMs":
            if (check.perSecond !== undefined) return undefined;
            return mistake(
                "experiment.interval",
                formatDuration(intervalMs),
                `less than ${over}`,
                formatDuration(Math.min(1_000, overMs / 2)),
            );
        case "successRate":
            if (check.abortBelow === undefined) return mistake("experiment.abortBelow", limit, `at most ${rate}`, rate);
            if (check.successRate !== undefined) return undefined;
            return mistake("experiment.successRate", rate, `at least ${limit}`, limit);
    }
}
