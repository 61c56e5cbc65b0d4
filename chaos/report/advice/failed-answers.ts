import type { Answer } from "../../kinds/checks/answer";
import { checkKindOf } from "../../kinds/checks/registry";
import { describeMilliseconds } from "../../values/duration";
import { greatestOf } from "../../values/extremes";
import { reaches } from "../../values/share";
import type { Journal } from "../journal-schema";
import { judgeChecks } from "../judged-check";

/** Times in milliseconds since the epoch, the end left out. */
export interface Span {
    from: number;
    to: number;
}

/**
 * When none of the Deployment's pods was ready, from the proof of the attack until the last request. A pod that the
 * attack has removed is not ready from then on.
 */
export function spansWithoutReadyPod(journal: Journal): Span[] {
    const { attackedAt = Infinity } = journal;
    const endedAt = endOfRequests(journal);
    const removed = killsIn(journal).map(({ at, pod }) => ({ at, pod, ready: false }));
    const removedAt = new Map(removed.map(({ at, pod }) => [pod, at]));
    const changes = [...readinessOfPods(journal), ...removed]
        // Its status says for a moment that it is.
        .filter(({ at, pod, ready }) => !ready || at < (removedAt.get(pod) ?? Infinity))
        .sort((a, b) => a.at - b.at);
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

const endOfRequests = ({ checks }: Journal): number =>
    greatestOf(checks.flatMap(({ answers }) => answers.map(({ at }) => at + 1)));

/** The removed pods, the first one first. */
export const killsIn = ({ attacks }: Journal) => attacks.flatMap(({ kills = [] }) => kills).sort((a, b) => a.at - b.at);

/** What a ReplicaSet adds to its name for a pod's is five characters long. */
const replicaSetIn = (pod: string) => pod.slice(0, -5);

/**
 * When pods of the attacked Deployment became ready or not. Only those of its ReplicaSet: other workloads may have
 * names that begin with the Deployment's.
 */
export function readinessOfPods(journal: Journal): Journal["readiness"] {
    const known = [...journal.attacks.flatMap(({ targets }) => targets), ...killsIn(journal)];
    const replicaSets = new Set(known.map(({ pod }) => replicaSetIn(pod)));
    return journal.readiness.filter(({ pod }) => replicaSets.has(replicaSetIn(pod)));
}

const isWithin = (spans: readonly Span[]) => (answer: Pick<Answer, "at">) =>
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
    const times = spans.map(({ from, to }) => ({ from, to: to + routedMs }));
    // A pod that is removed may have had requests that were sent before.
    const hasPending = killsIn(journal).length > 0;
    const isMended = (answer: Answer) =>
        isWithin(times)(answer) || (hasPending && isWithin(times)({ at: answer.at + answer.latencyMs }));
    const failed = failedChecks(journal);
    return (
        failed.length > 0 &&
        failed.every(({ planned: { successRate = 0 }, exceeds, counted }) => {
            // What would have been the change then is not known.
            if (exceeds) return false;
            const good = counted.filter(({ good }) => good).length;
            const mended = counted.filter((answer) => !answer.good && !answer.unseen && isMended(answer)).length;
            // An abort rule may have ended a run with enough good answers.
            return mended > 0 && reaches(successRate, good + mended, counted.length);
        })
    );
}

/** How the failed checks were answered in some spans: `0 of 8 requests to /products succeeded`. */
export const answeredIn = (journal: Journal, spans: readonly Span[]): string => answered(journal, isWithin(spans));

/** How they were answered at all other times that count. */
export const answeredOutside = (journal: Journal, spans: readonly Span[]): string =>
    answered(journal, (answer) => !isWithin(spans)(answer));

function answered(journal: Journal, counts: (answer: Answer) => boolean): string {
    const parts = failedChecks(journal).map(({ planned: { check }, counted }) => {
        const within = counted.filter(counts);
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
