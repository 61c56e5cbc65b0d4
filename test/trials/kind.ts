import type { DeniedTraffic } from "../../sandbox/node/choices";
import type { Verdict } from "../../chaos/report/verdict";
import type { TestStack } from "../e2e/shop/support";
import type { Needs } from "./place";
import type { Random } from "./random";
import type { Shape, Shop } from "./shop";

/** What comes out of a run: its verdict; `none` if the update was killed, or failed without one. */
export type Outcome = Verdict | "none";

/** The outcomes that a kind allows, and what each one's reason must say. */
export type Allowed = Partial<Record<Outcome, RegExp>>;

/** A kind of trial: an experiment, what disturbs it, and which verdicts are right. */
export interface Kind {
    name: string;
    /** What happens, in a sentence without a period. */
    meaning: string;
    shape: Shape;
    /** The saved experiment. @default "hot-deals-blackhole" */
    experiment?: string;
    allowed: Allowed;
    /** Settings of the stack while the experiment is enabled, beside the usual ones. @default none */
    settings?: Readonly<Record<string, string>>;
    /** Of an update that is killed. @default 25, which some attacks need more than */
    deadlineSeconds?: number;
    /** Whether the pods that are attacked are new ones. @default those of the trial before, unless its shape differs */
    renewed?: true;
    /** Where it can be tried. @default on each network, with one node or two */
    needs?: Needs;
    /** Prepares the trouble, before the update begins. @default nothing */
    before?: (run: Run) => Promise<void>;
    /** Disturbs the run. @default nothing does */
    trouble?: Trouble;
    /** What is done in a trial. @default `complete`: an update with the experiment, and one without */
    course?: Course;
    /** No other trial may run: it disturbs the whole sandbox, or needs several stacks. @default others may */
    alone?: true;
}

/** A run that is under way, as what disturbs it sees it. */
export interface Run {
    stack: TestStack;
    random: Random;
    /**
     * Waits until the attack is proven, then for a random part of the check's window.
     *
     * @param options.afterGrace only after the grace period. @default false
     * @param options.leaveMs how much of the window must be left. @default 0
     * @throws if the run ends before
     */
    moment: (options?: { afterGrace?: boolean; leaveMs?: number }) => Promise<void>;
    /** Milliseconds until the window ends. Only after `moment`. */
    leftMs: () => number;
    /**
     * Remembers what puts things right. It is done when the update has ended, the last one first.
     *
     * @param options.undone only when the experiment is undone, too, and nothing of it should be left. @default false
     */
    afterwards: (work: () => Promise<unknown>, options?: { undone?: boolean }) => void;
    /** What is left of the attack after some time. Nothing is looked at if the trials are interrupted. */
    attackLeft: (patienceMs: number) => Promise<string[]>;
    /** Aborted when the run ends, or the trials are interrupted. */
    signal: AbortSignal;
    /** Fulfilled when the update has ended. */
    ended: Promise<void>;
}

/** Disturbs a run. It throws if it could not, or if the run ended before. */
export type Trouble = (run: Run) => Promise<Effect>;

export interface Effect {
    /** What it did and saw, in a few words. */
    saw: string;
    /** The only right outcomes, after what it saw. @default all that the kind allows */
    only?: Outcome[];
    /** Outcomes that are right, too, since it has disturbed more than its kind says. @default none */
    also?: Allowed;
    /** What it saw and must not be, in sentences. @default nothing */
    problems?: string[];
}

/** What is done in a trial. */
export type Course = (shop: Shop, kind: Kind, trial: Trial) => Promise<Seen>;

/** One trial of a kind. */
export interface Trial {
    kind: string;
    /** What the network does with traffic that a NetworkPolicy denies. */
    denied: DeniedTraffic;
    /** From 1. */
    round: number;
    random: Random;
    /** Aborted when the trials are interrupted. */
    signal: AbortSignal;
    /** Aborted when a running update must be canceled: not if a terminal has told the engine already. */
    cancel: AbortSignal;
    /** Another shop, on a stack that no other trial uses now. */
    anotherShop: (shape: Shape) => Promise<Shop>;
}

/** What a trial showed. */
export interface Seen {
    outcome: Outcome;
    /** The verdict's reason, or the error. */
    reason: string;
    /** What the trouble did and saw. @default "" */
    saw: string;
    /** Why the trial is not as it should be, in sentences. Empty if it is. */
    problems: string[];
    /** What was left of the experiment. */
    leftovers: string[];
    /** Reports of the runs. */
    journals: string[];
}
