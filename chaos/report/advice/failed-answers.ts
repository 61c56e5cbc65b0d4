import type { Answer } from "../../kinds/checks/answer";
import { checkKindOf } from "../../kinds/checks/registry";
import { describeMilliseconds } from "../../values/duration";
import { reaches } from "../../values/share";
import type { Journal } from "../journal-schema";
import { judgeChecks } from "../verdict";

/** Times in milliseconds since the epoch, the end left out. */
export interface Span {
    from: number;
    to: number;
}

/**
 * When none of a Deployment's pods was ready, from the proof of the attack until the last request. A pod that the
 * attack has removed is not ready from then on.
 */
export function spansWithoutReadyPod(journal: Journal, deployment: string): Span[] {
    const { attackedAt = Infinity, checks, readiness, attacks } = journal;
    const endedAt = Math.max(...checks.flatMap(({ answers }) => answers.map(({ at }) => at + 1)));
    const isItsPod = podNameOf(deployment);
    const removed = attacks.flatMap(({ kills = [] }) => kills.map(({ at, pod }) => ({ at, pod, ready: false })));
    const changes = [...readiness, ...removed].filter(({ pod }) => isItsPod(pod)).sort((a, b) => a.at - b.at);
    const ready = new Set<string>();
    const spans: Span[] = [];
    let since: number | undefined;
    for (const { at, pod, ready: isReady } of changes) {
        if (isReady) ready.add(pod);
        else ready.delete(pod);
        if (ready.size === 0) since ??= at;
        else if (since !== undefined) {
            spans.push({ from: since, to: at });
            since = undefined;
        }
    }
    if (since !== undefined) spans.push({ from: since, to: endedAt });
    return spans
        .map(({ from, to }) => ({ from: Math.max(from, attackedAt), to: Math.min(to, endedAt) }))
        .filter(({ from, to }) => from < to);
}

/** Whether a pod has the name of one of a Deployment's: its controllers add the hash of the template, and five more. */
const podNameOf = (deployment: string) => (pod: string) =>
    pod.startsWith(`${deployment}-`) && /^[a-z0-9]+-[a-z0-9]{5}$/.test(pod.slice(deployment.length + 1));

const isWithin = (spans: readonly Span[]) => (answer: Answer) =>
    spans.some(({ from, to }) => answer.at >= from && answer.at < to);

/** The checks that did not hold, with the answers that count. */
export function failedChecks(journal: Journal) {
    const from = (journal.attackedAt ?? Infinity) + journal.plan.window.graceMs;
    return judgeChecks(journal).flatMap(({ name, held, answers, changes }) => {
        const planned = journal.plan.checks.find((one) => one.name === name)!;
        const exceeds = changes.some(({ isWithin }) => isWithin === false);
        return held ? [] : [{ planned, exceeds, counted: answers.filter(({ at }) => at >= from) }];
    });
}

/** So long after a pod is ready, in milliseconds, Services may not lead to it yet. */
const routedMs = 500;

/**
 * Whether every check would have held if the application had answered well in some spans, and until Services lead to
 * the pod that was ready after each: only then do these explain the verdict.
 */
export function wouldHold(journal: Journal, spans: readonly Span[]): boolean {
    const isMended = isWithin(spans.map(({ from, to }) => ({ from, to: to + routedMs })));
    const failed = failedChecks(journal);
    return (
        failed.length > 0 &&
        failed.every(({ planned: { successRate = 0 }, exceeds, counted }) => {
            // What would have been the change then is not known.
            if (exceeds) return false;
            const good = counted.filter((answer) => answer.good || (!answer.unseen && isMended(answer)));
            return counted.length > 0 && reaches(successRate, good.length, counted.length);
        })
    );
}

/** How the failed checks were answered in some spans: `0 of 8 requests to /products succeeded`. */
export function answeredIn(journal: Journal, spans: readonly Span[]): string {
    const parts = failedChecks(journal).map(({ planned: { check }, counted }) => {
        const within = counted.filter(isWithin(spans));
        const good = within.filter((answer) => answer.good);
        return `${good.length} of ${within.length} ${checkKindOf(check).describeSuccess(check)}`;
    });
    return new Intl.ListFormat("en-GB").format(parts);
}

/** Such as `no ready pod for 9.5 s, and 0 of 20 requests to /products succeeded in that time`. */
export function describeOutage(journal: Journal, spans: readonly Span[]): string {
    const lengthMs = spans.reduce((sum, { from, to }) => sum + to - from, 0);
    return `no ready pod for ${describeMilliseconds(lengthMs)}, and ${answeredIn(journal, spans)} in that time`;
}
