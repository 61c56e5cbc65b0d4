import { once } from "node:events";
import { pause, poll } from "../values/async";
import { sinceAttack } from "../values/since";
import type { Reason } from "../values/reasons";
import type { Working } from "./allowing-policies";

/** Why the verdict is INCONCLUSIVE, as far as the proof goes. */
export interface Doubt extends Reason {
    /** Connections that must fail, and work: another NetworkPolicy may allow them. Absent if that is not why. */
    working?: Working;
    /** Whether a later look may show that it is not so. @default false */
    mayPass?: boolean;
}

/** What must fail under the attack was tried before it: how long that took, or why it did not even work then. */
export type Baseline =
    | Doubt
    | {
          tookMs: number;
          /** Connections that did not work even then, and so can show nothing. */
          leftOut: string[];
      };

/** An aborted run's attacks go on until the last proof is given, and the last look: they get so many milliseconds. */
export const abortedTimeoutMs = 2_000;

/** What is seen; nothing if that takes long once the run is aborted: the attacks must end. */
export function soonIfAborted<T>(seen: Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
    if (signal === undefined) return seen;
    const aborted = signal.aborted ? Promise.resolve() : once(signal, "abort");
    return Promise.race([seen, aborted.then(() => pause(abortedTimeoutMs)).then(() => undefined)]);
}

/** How long what fails is tried again at least, before it is left out: a busy machine answers late. */
export const busyMs = 2_000;

/** Each try costs the API server calls. */
const pauseMs = 250;

/**
 * Tries a baseline until all works; after a while, until enough works.
 *
 * @param patienceMs how long it is tried if not enough works
 */
export function awaitBaseline<T extends { leftOut: string[] }>(
    look: () => Promise<T | Doubt>,
    patienceMs: number,
): Promise<T | Doubt> {
    const begun = performance.now();
    const isEnough = (seen: T | Doubt) =>
        "leftOut" in seen
            ? seen.leftOut.length === 0 || performance.now() - begun > busyMs
            : seen.code !== "baseline-failed";
    return poll(look, isEnough, patienceMs, pauseMs);
}

/**
 * The longest time without a look at an attack, in milliseconds. Within a longer one the attack may have ended and
 * begun again.
 */
export const maxSilenceMs = 10_000;

/** For people: when something was seen, as a part of a sentence. */
export const sinceProven = (ms: number): string => sinceAttack(Math.max(0, ms));

/** Since when the witness sees an attack work, by its clock, which may differ from this machine's. */
export interface Witnessed {
    witnessedAt: number;
    /** When it was asked, in milliseconds of `performance.now()`, which no change of a clock affects. */
    askedAt: number;
}

export interface Proven extends Witnessed {
    /**
     * Since when the attack is proven, by this machine's clock: the latest of when the witness began the tries that
     * show it, and when all else was seen. The grace period begins.
     */
    attackedAt: number;
}

const maxNamed = 3;

/** What the proof does without, for people. */
export function describeLeftOut(connections: readonly string[]): string {
    const named = connections.slice(0, maxNamed).join(", ");
    const more = connections.length > maxNamed ? `, and ${connections.length - maxNamed} more` : "";
    return (
        `Not part of the proof, since they do not work before the attack or cannot be tried: connections ` +
        `${named}${more}`
    );
}
