/** One build of a plan. */
export interface Planned {
    readonly title: string;
    readonly minutes: number;
}

/** The weight of the expected times, as seconds of measured builds: a short download says little about a long build. */
const TRUST_SECONDS = 300;

/**
 * Estimates the time left of a plan. The pace of this machine is taken from the finished builds: the longer they took,
 * the more they count against the expected times.
 *
 * @param plan all builds, in order.
 * @param done how many are finished.
 * @param doneSeconds their duration.
 * @param currentSeconds the duration of the current one so far.
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

/** A duration such as `45 s` or `12 min`. */
export function spoken(seconds: number): string {
    return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

/** Measures the builds of a plan, for the time left. */
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

    /** The time left, such as `about 12 min left`. */
    left(): string {
        const current = this.done < this.plan.length ? this.currentSeconds() : 0;
        return `about ${spoken(secondsLeft(this.plan, this.done, this.doneSeconds, current))} left`;
    }
}
