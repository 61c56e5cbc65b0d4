/**
 * What the proof of an attack rests on: the table of its trials, and lines of what the observers have found. All
 * judgments are here, and none of them asks anybody.
 *
 * | moment        | the witness's part         | what is tried from within               |
 * | ------------- | -------------------------- | --------------------------------------- |
 * | before        | `leftOutBefore`            | `leftOutBefore`                         |
 * | the beginning | `cutSince`                 | `whyWorking`                            |
 * | the window    | `whyNotCut`                | `whyWorkedMeanwhile`, `whyOverreaching` |
 * | its end       | `whyOverreachingByWitness` | `whyWorking`, `whyOverreaching`         |
 */
import { withoutPeriod } from "../cluster/problem";
import { describeMilliseconds } from "../values/duration";
import { type ConnectionReport, type Missed, reference } from "../witness/protocol";
import { quoted } from "../values/quoted";
import { reason, type Reason, type ReasonCode } from "../values/reasons";
import { groupedBy } from "../values/grouped";
import { type Doubt, maxSilenceMs, sinceProven } from "./outcome";
import { cutIn, hasAll, leakIn, lostAmong, silenceIn, unaffectedIn, unlabeledIn } from "./reports";
import {
    type ByWitness,
    deniedTo,
    type Table,
    type Trial,
    type TrialWithin,
    type Within,
    type WitnessTrial,
} from "./trials";

/** A line: what an observer has found of some trials, by their ids. A report of the witness is one. */
export interface Line {
    /** When it began to try. */
    at: number;
    open: readonly string[];
    closed: readonly string[];
}

/** A line of what was tried from within. Its moments are those of `performance.now()`. */
export interface Look extends Line {
    tookMs: number;
    /** Why something could not be tried. Absent if everything was. */
    problem?: string;
    /** A host's name that has addresses which it did not have before the attack. */
    moved?: { id: string; to: readonly string[] };
}

export const noReport = reason("witness-silent", "the Job that watches the targets has no report of before the attack");

/** @returns what did not work before the attack, and so can show nothing; or that too little worked */
export function leftOutBefore<T extends Trial>(
    { trials, needs }: Table<T>,
    { open }: Pick<Line, "open">,
): { leftOut: string[] } | Doubt {
    const those = new Set(open);
    const worked = trials.filter(({ id }) => those.has(id));
    const unmet = needs.find(({ isMetBy }) => !worked.some(isMetBy));
    if (unmet) return reason(unmet.code ?? "baseline-failed", unmet.message);
    return { leftOut: trials.filter(isProving).flatMap(({ id, name }) => (those.has(id) ? [] : (name ?? []))) };
}

const isProving = (one: Pick<WitnessTrial, "during" | "leftOut">) => one.during === "fails" && !one.leftOut;

/** What shows the attack, of what the witness tries. */
export const provingOf = ({ trials }: Pick<ByWitness, "trials">) => trials.filter(isProving).map(({ id }) => id);

const idsOf = (trials: readonly Trial[], during: Trial["during"]) =>
    trials.filter((one) => one.during === during).map(({ id }) => id);

/**
 * Since when all of the witness's trials fail that must, and had worked before; or why that is not shown.
 *
 * @returns `triedMs` of the report that shows it. Absent if failing connections are not what shows it
 */
export function cutSince(
    { trials, isProbed, isAlone, missing }: ByWitness,
    reports: readonly ConnectionReport[],
): Pick<ConnectionReport, "at" | "triedMs"> | Doubt {
    const proving = provingOf({ trials });
    const last = reports.at(-1);
    if (isProbed) return hitSince(trials, proving, last, missing);
    if (!trials.some(({ during }) => during === "fails") && last) return isAlone ? nothingTried : { at: last.at };
    const { baseline, cut } = cutIn(reports, proving);
    if (cut) return { at: cut.at, triedMs: cut.triedMs };
    if (!baseline || !last) return noReport;
    const open = new Set(last.open);
    const found = proving.filter((id) => open.has(id)).join(", ") || "the target";
    const message = `the NetworkPolicy exists, but ${found} still accepted fresh connections`;
    return { ...reason("attack-not-proven", message), working: deniedTo(proving) };
}

const nothingTried = reason("attack-not-proven", "nothing is tried that would show the attack");

/** The same of what has probes, which need not have been answered by the witness's own baseline. */
function hitSince(
    trials: readonly WitnessTrial[],
    hit: readonly string[],
    last: ConnectionReport | undefined,
    missing: string | undefined,
): { at: number } | Doubt {
    const notProven = (message: string) => reason("attack-not-proven", message);
    if (hit.length === 0) return notProven("no probe reached a target before the attack");
    if (!last || !hasAll(hit)(last.closed)) {
        const lacking = trials.filter(({ id }) => hit.includes(id) && !last?.closed.includes(id));
        const [probes, endpoints] = [lacking.filter(isProbe), lacking.filter((one) => !isProbe(one))];
        const namesOf = (some: readonly WitnessTrial[]) => some.map(({ id }) => id).join(", ");
        if (probes.length === 0) return notProven(`${namesOf(endpoints)} still accepted fresh connections`);
        if (missing === undefined) return notProven(`probes were not affected: ${hit.join(", ")}`);
        const shown = probes.filter(({ id }) => last?.open.includes(id));
        return notProven(shown.length > 0 ? `${namesOf(shown)} ${missing}` : `${namesOf(probes)} could not be seen`);
    }
    const passed = trials.filter(isPassed).map(({ id }) => id);
    if (hasAll(passed)(last.open)) return { at: last.at };
    const affected = passed.filter((id) => last.closed.includes(id)).join(", ");
    return affected === ""
        ? notProven("not every probe was answered that the attack must leave alone")
        : reason("positive-control-failed", `the attack also affects what it should not: ${affected}`);
}

const isProbe = ({ id, pod }: WitnessTrial) => pod === undefined && id !== reference;
const isPassed = (one: WitnessTrial) => isProbe(one) && one.during === "works" && !one.isSpared;

/** Whether the targets have been cut off all the time, as far as the witness saw. @returns why not */
export function whyNotCut(
    { trials, missing }: ByWitness,
    all: readonly ConnectionReport[],
    from: number,
    to: number,
): Doubt | undefined {
    const reports = all.filter(({ at }) => at >= from);
    const podOf = (id: string) => trials.find((one) => one.id === id)!.pod;
    const notHeld = (message: string) => reason("attack-not-held", message);
    const unaffected = unaffectedIn(reports, idsOf(trials.filter(isProbe), "fails"));
    if (unaffected !== undefined) {
        const [ran, unseen] = missing ? [missing, "could not be seen"] : ["was not affected", "could not be reached"];
        const what = unaffected.was === "open" ? ran : unseen;
        return notHeld(`${unaffected.name} ${what} at a moment of the run`);
    }
    const endpoints = trials.filter(({ pod }) => pod !== undefined);
    const leak = leakIn(reports, idsOf(endpoints, "fails"));
    if (leak !== undefined) {
        const working = deniedTo(provingOf({ trials: endpoints }));
        return { ...notHeld(`the target ${podOf(leak)} became reachable again during the run, at ${leak}`), working };
    }
    const pods = [...groupedBy(endpoints, ({ pod }) => pod).values()];
    const unlabeled = unlabeledIn(
        reports,
        pods.map((some) => some.map(({ id }) => id)),
    );
    if (unlabeled !== undefined)
        return notHeld(`the target ${podOf(unlabeled)}, at ${unlabeled}, lost its label during the run`);
    const silenceMs = silenceIn(reports, from, to);
    if (silenceMs <= maxSilenceMs) return undefined;
    // What a Job that is silent now has seen may show later. A silence that has ended stays one.
    const mayPass = silenceIn(reports, from, reports.at(-1)?.at ?? from) <= maxSilenceMs;
    const silence = describeMilliseconds(silenceMs);
    const message = `the Job that watches the targets reported nothing for ${silence} of the run`;
    return { ...reason("witness-silent", message), mayPass };
}

/** Whether the last report is not before a moment, and has what must fail: another pod of the Job begins without. */
export function isTold({ trials }: ByWitness, reports: readonly ConnectionReport[], from: number): boolean {
    const last = reports.at(-1);
    if (last === undefined || last.at < from) return false;
    const known = new Set([...last.open, ...last.closed]);
    return trials.every((one) => !isProbe(one) || !isProving(one) || known.has(one.id));
}

export const notSeenAtEnd: Doubt = reason(
    "witness-silent",
    "the Job did not report at the end of the run whether the attack was still in effect",
);

/**
 * What must fail from within and does not, or why that is not known.
 *
 * @param code what it means that something works
 * @param when as the end of a sentence. @default now
 */
export function whyWorking(within: Within, look: Look, code: ReasonCode, when = ""): Doubt | undefined {
    const { trials, denied } = within;
    if (look.problem !== undefined) return couldNot(within, look.problem);
    const { moved } = look;
    if (moved) {
        const { from, host } = trials.find(({ id }) => id === moved.id)!;
        const [{ host: name, addresses }, now] = [host!, moved.to.join(", ")];
        const before = `which it was not before the attack (${addresses.join(", ")})`;
        return reason("peers-changed", `${name} is ${now} in ${from.pod}, ${before}${when}`);
    }
    const open = new Set(look.open);
    const working = trials.find(({ id }) => open.has(id));
    if (working === undefined) return undefined;
    const message = `the NetworkPolicy exists, but ${working.what} still works${when}`;
    return { ...reason(code, message), working: denied };
}

/** Why nothing is known about what must fail from within. @param when such as " for 12 s". @default only now */
export const couldNot = ({ what }: Pick<Within, "what">, problem: string, when = ""): Doubt =>
    reason("probe-failed", `${what} could not be tried${when}: ${problem}`);

/**
 * What of it a look in the window has found to work, or that nothing could be tried for a time.
 *
 * @param seenAt when the last look that could be tried began, or the window
 * @param since says in words when a moment was
 */
export function whyWorkedMeanwhile(
    within: Within,
    look: Look,
    seenAt: number,
    since: (moment: number) => string,
): Doubt | undefined {
    const isSeen = look.problem === undefined;
    const silenceMs = (isSeen ? look.at : look.at + look.tookMs) - seenAt;
    if (silenceMs > maxSilenceMs) {
        const when = ` for ${describeMilliseconds(silenceMs)}, from ${since(seenAt)}`;
        return couldNot(within, look.problem ?? "no answer came", when);
    }
    return isSeen ? whyWorking(within, look, "attack-not-held", `, ${since(look.at)}`) : undefined;
}

/** What must go on working from within, and does not, or why that is not known. */
export function whyOverreaching(trials: readonly TrialWithin[], { open, problem }: Look): Reason | undefined {
    if (problem !== undefined) return uncontrolled(problem);
    const working = new Set(open);
    const failing = trials.find(({ id }) => !working.has(id));
    return failing && overreach(failing.what);
}

export const uncontrolled = (problem: string): Reason =>
    reason("probe-failed", `what must still work under the attack could not be tried: ${withoutPeriod(problem)}`);

const overreach = (what: string): Reason =>
    reason(
        "positive-control-failed",
        `the attack blocks more than it should: ${what} worked before it, and fails under it`,
    );

/** What the witness has lost under attack that must go on working, and whether it still cannot reach it. */
export function lostByWitness({ trials }: ByWitness, reports: readonly ConnectionReport[], since: number) {
    const known = idsOf(trials.filter(isProbe), "works");
    return lostAmong(reports, idsOf(trials, "works"), since, known);
}

/**
 * The first of it that shows the attack to be more than it should be. A target may refuse connections itself: blocked,
 * since it waits for what the attack takes away. So that counts only if it still does, and accepts one from within.
 *
 * @param accepting endpoints of targets that accept connections from their own containers
 */
export function whyOverreachingByWitness(
    { trials }: ByWitness,
    lost: ReturnType<typeof lostByWitness>,
    accepting: readonly string[],
): Reason | undefined {
    if (lost.some(({ name }) => name === reference))
        return overreach("a fresh connection between pods that are no targets");
    const those = lost.map((one) => ({ ...one, trial: trials.find(({ id }) => id === one.name)! }));
    const affected = those.find(({ trial }) => isProbe(trial))?.trial;
    if (affected !== undefined) {
        const why = affected.isSpared ? ", which is no target" : "";
        const message = `the attack also affects what it should not: ${affected.id}${why}`;
        return reason("positive-control-failed", message);
    }
    const cutOff = lost.find(({ name, still }) => still && accepting.includes(name))?.name;
    return cutOff === undefined ? undefined : overreach(`a fresh connection from another pod to ${cutOff}`);
}

/**
 * Why the Job has not done what was due, such as a kill. Undefined if it has.
 *
 * @param since when the attack was seen to work, by the Job's clock
 */
export function whyMissed(missed: readonly Missed[], since: number): Reason | undefined {
    const first = missed.find(({ at, missed: { forMs } }) => at + forMs >= since);
    if (first === undefined) return undefined;
    const { what = "the kill", forMs, problem } = first.missed;
    return reason(
        "attack-not-held",
        `${what} that was due ${sinceProven(first.at - since)} could not be made for ` +
            `${describeMilliseconds(forMs)}: ${quoted(problem)}`,
    );
}
