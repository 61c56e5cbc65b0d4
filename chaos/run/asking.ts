import { setMaxListeners } from "node:events";
import { inTurn } from "../kinds/actions/registry";
import { attackKindOf } from "../kinds/attacks/registry";
import type { Answer } from "../kinds/checks/answer";
import type { CheckContext } from "../kinds/checks/check-kind";
import type { KnownRoutes } from "../kinds/checks/endpoints";
import {
    type AskedWindow,
    askThrough,
    latencyLimitOf,
    type Observed,
    type PlannedCheck,
    probe,
} from "../kinds/checks/observe";
import type { Plan } from "../definition/plan";
import { divides } from "../values/due";
import { checksContext } from "./checks-context";
import type { StepContext } from "./contract";
import { AnswerProgress } from "./step-progress";

/** What is only seen some time after the tries takes longest for connections that an attack does not cut. */
const leastWindowMs = 10_000;

/**
 * Whether the checks are asked before the attack is proven. The window then begins with the witness's tries that prove
 * it. Where denied packets are dropped, these take 1 s, so each run ends 1 s earlier. Only for one attack that is a
 * policy and that such tries prove, and only if all that is done and seen in the window needs no second more:
 *
 * - Actions begin once the attack is proven.
 * - A short window has no time to spare for what shows late, such as what became of open connections.
 * - If an interval does not divide grace and duration, more or fewer answers could count, or one of after the window.
 */
export function isAskedEarly({ attacks, checks, actions, window: { graceMs, durationMs } }: Plan): boolean {
    const [one, ...others] = attacks;
    const kind = one && attackKindOf(one.attack);
    return (
        kind?.denies !== undefined &&
        kind.proof(one!.attack).inward !== undefined &&
        others.length === 0 &&
        inTurn(actions).length === 0 &&
        graceMs + durationMs >= leastWindowMs &&
        checks.every(({ intervalMs }) => divides(intervalMs, graceMs) && divides(intervalMs, durationMs))
    );
}

/** A window, and what becomes of its answers. */
export interface FollowedWindow extends AskedWindow {
    /** Gets the answers of a check, in the order of asking. */
    follow: (planned: PlannedCheck) => (answer: Answer) => void;
    /** Ends the asking early. */
    signal: AbortSignal;
}

/** Sends the checks' requests until the end of a window that is set later. */
export class Asking {
    /** When the first probes were due, in `performance.now()`. Rejects if the checks cannot be prepared. */
    readonly begun: Promise<number>;
    private readonly progress: AnswerProgress;
    private readonly ending = new AbortController();
    private readonly answers: Promise<Observed[]>;
    private setWindow!: (window: FollowedWindow) => void;

    constructor(context: StepContext, known: KnownRoutes & { pass: string }) {
        // Each check waits for it.
        setMaxListeners(0, this.ending.signal);
        this.progress = new AnswerProgress(context, context.plan.checks.length > 1);
        const window = new Promise<FollowedWindow>((resolve) => (this.setWindow = resolve));
        const prepared = checksContext(context, known).then((where) => ({ where, at: performance.now() }));
        this.begun = prepared.then(({ at }) => at);
        this.answers = prepared.then(({ where }) => this.ask(context.plan, where, window));
        // They may fail before anybody awaits them, and nobody does if the attacks are not proven.
        this.begun.catch(() => undefined);
        this.answers.catch(() => undefined);
    }

    private async ask({ checks }: Plan, where: CheckContext, window: Promise<FollowedWindow>): Promise<Observed[]> {
        const { signal } = this.ending;
        const asked = checks.map(async (planned) => {
            const { name, intervalMs } = planned;
            let follow: ((answer: Answer) => void) | undefined;
            const known = window.then((one) => ((follow = one.follow(planned)), one));
            const onAnswer = (answer: Answer) => {
                this.progress.count(name, answer);
                follow!(answer);
            };
            const limitMs = latencyLimitOf(planned);
            const options = { limitMs, onAnswer, signal };
            return { name, answers: await askThrough(() => probe(planned, where), known, intervalMs, options) };
        });
        return Promise.all(asked).finally(() => where.pulse?.stop());
    }

    /** @returns the answers of a window, once it is over */
    untilEndOf(window: FollowedWindow): Promise<Observed[]> {
        const end = () => this.ending.abort();
        if (window.signal.aborted) end();
        window.signal.addEventListener("abort", end, { once: true });
        this.setWindow(window);
        return this.answers;
    }

    /** Asks no more. */
    end(): void {
        const nothing = { from: Infinity, lengthMs: 0, follow: () => () => undefined };
        void this.untilEndOf({ ...nothing, signal: AbortSignal.abort() });
    }
}
