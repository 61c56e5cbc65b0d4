/** What the Job's reports say about some endpoints. All reports are in order of time. */
import type { ConnectionReport } from "../witness/protocol";

/**
 * How long what must still accept connections may refuse them, in milliseconds: it is tried every 2 s, so at least two
 * connections have failed by then.
 */
const maxRefusedMs = 3_000;

/** Answers a question about each list once: reports without a change share their lists, which can be long. */
function oncePerList<T>(question: (list: readonly string[]) => T): (list: readonly string[]) => T {
    const answers = new Map<readonly string[], T>();
    return (list) => {
        if (!answers.has(list)) answers.set(list, question(list));
        return answers.get(list)!;
    };
}

/** @returns the first of the endpoints that a list lacks */
const missingOf = (endpoints: readonly string[]) =>
    oncePerList((list) => {
        const those = new Set(list);
        return endpoints.find((endpoint) => !those.has(endpoint));
    });

export function hasAll(endpoints: readonly string[]): (list: readonly string[]) => boolean {
    const missing = missingOf(endpoints);
    return (list) => list.length >= endpoints.length && missing(list) === undefined;
}

/** The first report in which all endpoints accepted connections, and the first later one in which none did. */
export function cutIn(
    reports: readonly ConnectionReport[],
    endpoints: readonly string[],
): { baseline?: ConnectionReport; cut?: ConnectionReport } {
    if (endpoints.length === 0) return {};
    const areAllIn = hasAll(endpoints);
    const baseline = reports.find(({ open }) => areAllIn(open));
    return { baseline, cut: baseline && reports.find(({ at, closed }) => at > baseline.at && areAllIn(closed)) };
}

/** The first of the endpoints that accepted a connection. */
export function leakIn(reports: readonly ConnectionReport[], endpoints: readonly string[]): string | undefined {
    const own = new Set(endpoints);
    const leak = oncePerList((list) => list.find((endpoint) => own.has(endpoint)));
    return reports.map(({ open }) => leak(open)).find((endpoint) => endpoint !== undefined);
}

/**
 * The first endpoint of the first pod that was not tried: the Job does not look at pods without a label.
 *
 * @param pods the endpoints of each
 */
export function unlabeledIn(reports: readonly ConnectionReport[], pods: readonly string[][]): string | undefined {
    const those = oncePerList((list) => new Set(list));
    for (const { open, closed } of reports) {
        const isTried = (endpoint: string) => those(closed).has(endpoint) || those(open).has(endpoint);
        const missing = pods.find((endpoints) => !endpoints.some(isTried));
        if (missing !== undefined) return missing[0];
    }
    return undefined;
}

/** The longest time without a report, in milliseconds. */
export function silenceIn(reports: readonly ConnectionReport[], from: number, to: number): number {
    const moments = [from, ...reports.map(({ at }) => at), to];
    return moments.slice(1).reduce((most, at, index) => Math.max(most, at - moments[index]!), 0);
}

/**
 * Those of some names that accepted a connection once, and then none for a time that no slow connection explains. What
 * never accepted one says nothing, and what was not tried meanwhile begins again.
 *
 * @param from when that time may begin, by the Job's clock
 * @param known those that are known to have accepted one before the reports
 * @returns each, and whether it accepts none in the last report either
 */
export function lostAmong(
    reports: readonly ConnectionReport[],
    names: readonly string[],
    from: number,
    known: readonly string[] = [],
): { name: string; still: boolean }[] {
    const wanted = new Set(names);
    const lost = new Set<string>();
    const opened = new Set<string>(known);
    let closedSince = new Map<string, number>();
    for (const { at, open, closed } of reports) {
        for (const name of open) opened.add(name);
        const refusing = at < from ? [] : closed.filter((name) => wanted.has(name) && opened.has(name));
        closedSince = new Map(refusing.map((name) => [name, closedSince.get(name) ?? at]));
        for (const [name, since] of closedSince) if (at - since >= maxRefusedMs) lost.add(name);
    }
    return [...lost].map((name) => ({ name, still: closedSince.has(name) }));
}

/** How long a pod may be out of reach, in milliseconds: it is tried every second, and a busy one may miss a probe. */
const maxUnseenMs = 4_000;

/** The first of some names that was open, or could not be seen for a time. */
export function unaffectedIn(
    reports: readonly ConnectionReport[],
    names: readonly string[],
): { name: string; was: "open" | "unseen" } | undefined {
    const unseenSince = new Map<string, number>();
    for (const { at, open, closed } of reports) {
        const [those, affected] = [new Set(open), new Set(closed)];
        for (const name of names) {
            if (those.has(name)) return { name, was: "open" };
            if (affected.has(name)) unseenSince.delete(name);
            else if (at - (unseenSince.get(name) ?? at) > maxUnseenMs) return { name, was: "unseen" };
            else unseenSince.set(name, unseenSince.get(name) ?? at);
        }
    }
    return undefined;
}
