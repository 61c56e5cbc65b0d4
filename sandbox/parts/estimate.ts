/** What is known of one part's making. */
export interface Planned {
    readonly title: string;
    readonly minutes: number;
}

/** The expected times weigh as much as this much experience: a short download says little of a long build. */
const TRUST_SECONDS = 300;

/**
 * Estimates what is left of a run of builds.
 *
 * This machine's pace is taken from what is done already: the more of it, the more it counts against what is expected.
 *
 * @param plan all parts of this run, in order.
 * @param done how many of them are made.
 * @param doneSeconds how long those took together.
 * @param currentSeconds how long the current one has been going on.
 * @returns seconds, never negative.
 */
export function secondsLeft(
    plan: readonly Planned[],
    done: number,
    doneSeconds: number,
    currentSeconds: number,
): number {
    const expected = (parts: readonly Planned[]) => parts.reduce((sum, part) => sum + part.minutes * 60, 0);
    const doneExpected = expected(plan.slice(0, done));
    const pace = (doneSeconds + TRUST_SECONDS) / (doneExpected + TRUST_SECONDS);
    const current = Math.max(0, expected(plan.slice(done, done + 1)) * pace - currentSeconds);
    return Math.round(current + expected(plan.slice(done + 1)) * pace);
}

/** Writes a duration as people say it: `45 s`, `12 min`. */
export function spoken(seconds: number): string {
    return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

/** Keeps the time of a plan's parts, for what is left of it. */
export class PlanClock {
    plan: readonly Planned[] = [];
    done = 0;
    private doneSeconds = 0;
    private startedMs = Date.now();

    begin(plan: readonly Planned[]): void {
        this.plan = plan;
    }

    start(): void {
        this.startedMs = Date.now();
    }

    finish(seconds: number): void {
        this.done += 1;
        this.doneSeconds += seconds;
    }

    currentSeconds(): number {
        return (Date.now() - this.startedMs) / 1000;
    }

    /** What is left of all, such as `about 12 min left`. */
    left(): string {
        const current = this.done < this.plan.length ? this.currentSeconds() : 0;
        return `about ${spoken(secondsLeft(this.plan, this.done, this.doneSeconds, current))} left`;
    }
}
