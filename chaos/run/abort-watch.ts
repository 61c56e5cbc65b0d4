import { setMaxListeners } from "node:events";
import { type Aborted, fallsBelow } from "../kinds/checks/abort";
import type { Answer } from "../kinds/checks/answer";
import { namesOf, type PlannedCheck } from "../kinds/checks/observe";
import { problemOf } from "../cluster/problem";
import { isAttack } from "../definition/plan";
import { describeMilliseconds } from "../values/duration";
import { endRun } from "../ending/end-run";
import { describeShare, percentOf } from "../values/share";
import type { StepContext } from "./contract";
import { reportRecovery } from "./recovery";

/** Watches the checks' answers, and ends the window when those of one fall below its rule, or when it is told to. */
export class AbortWatch {
    private readonly controller = new AbortController();
    /** Is set when the window ends early. */
    readonly signal = this.controller.signal;
    private aborted?: Aborted;
    private over = false;

    /**
     * @param attackedAt since when the last attack is proven; without attacks, when the checks began. In milliseconds
     *   since the epoch
     */
    constructor(
        private readonly context: Pick<StepContext, "plan" | "say">,
        private readonly attackedAt: number,
    ) {
        // Each check waits for it, and each attack.
        setMaxListeners(0, this.signal);
    }

    /** @returns takes the answers of a check, in the order of asking */
    follow({ name, abort, intervalMs }: PlannedCheck): (answer: Answer) => void {
        const { plan, say } = this.context;
        const countsFrom = this.attackedAt + plan.window.graceMs;
        const counted: Answer[] = [];
        return (answer) => {
            if (abort === undefined || this.over || answer.at < countsFrom) return;
            counted.push(answer);
            const found = fallsBelow(abort, intervalMs, counted);
            if (found === undefined) return;
            this.over = true;
            const [rate, below] = [percentOf(found.good, found.seen), describeShare(abort.below)];
            const afterMs = Math.max(0, Date.now() - this.attackedAt);
            this.aborted = { check: name, afterMs, rate, answers: found.seen, below, overMs: abort.overMs };
            const over = describeMilliseconds(abort.overMs);
            const what = isAttack(plan) ? "attacks" : "run";
            say(`${name}: success rate ${rate} over ${over} (abort below ${below}); ending the ${what}`);
            this.controller.abort();
        };
    }

    /** Ends the window early: no verdict is possible any more. */
    stop(): void {
        this.over = true;
        this.controller.abort();
    }

    /** Stops watching. @returns the abort, if there was one */
    end(): Aborted | undefined {
        this.over = true;
        return this.aborted;
    }
}

/** What became of the attacks that were ended by their own run: at an abort, or with the verdict. */
export type Ending = Awaited<ReturnType<typeof endRun>> | { problem: string };

/** Ends the attacks of a run during its check. Never rejects. */
export function endOwnRun({ cluster, plan, stack, say }: StepContext): Promise<Ending> {
    return endRun(cluster, { stack, plan }, { say }).catch((error: unknown) => ({ problem: problemOf(error) }));
}

/** Waits until a run that has ended its attacks has recovered, for a minute at most, and adds that to its report. */
export async function awaitRecovery(
    context: StepContext,
    { at, recovery }: Exclude<Ending, { problem: string }>,
): Promise<void> {
    const { plan, say } = context;
    const recovered = await recovery;
    if (recovered) reportRecovery(context, { undoneAt: at, ...recovered });
    else say(`${isAttack(plan) ? "The attacks are" : "The run is"} over, but ${namesOf(plan)} did not recover yet`);
}
