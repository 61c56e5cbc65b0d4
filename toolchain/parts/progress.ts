import { LiveLines } from "../live-lines";

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

/** How often a log shows that a build is still running. */
const HEARTBEAT_SECONDS = 20;

/**
 * Shows the progress of builds: a line at the end of each, and in between the duration of the current one, the time
 * left and what the build printed last. In a log, that is a line every {@link HEARTBEAT_SECONDS}.
 */
export class PartsProgress {
    private plan: readonly Planned[] = [];
    private done = 0;
    private doneSeconds = 0;
    private startedMs = Date.now();
    private lastLine = "";
    private heartbeat?: NodeJS.Timeout;

    constructor(private readonly lines: Pick<LiveLines, "print" | "show" | "isLive"> = new LiveLines(process.stderr)) {}

    /** Another process is building. */
    readonly waiting = (pid: string): void => this.lines.print(`Another process (${pid}) is building; waiting for it`);

    /** The current build printed a line. */
    readonly line = (text: string): void => {
        this.lastLine = `; at ${text.slice(0, 60)}`;
    };

    /** Called with all builds in order, unless there are none. */
    begin(plan: readonly Planned[]): void {
        this.plan = plan;
        this.startedMs = Date.now();
        this.lines.print(`Building ${plan.length} parts, once; ${this.left()}`);
        this.heartbeat = setInterval(() => this.beat(), this.lines.isLive ? 1000 : HEARTBEAT_SECONDS * 1000);
        this.heartbeat.unref();
    }

    started(): void {
        this.startedMs = Date.now();
        this.lastLine = "";
        if (this.lines.isLive) this.beat();
        else this.lines.print(`${this.current()} …`);
    }

    finished(): void {
        this.lines.print(`${this.current()} ✔ ${spoken(this.currentSeconds())}`);
        this.doneSeconds += this.currentSeconds();
        this.done += 1;
    }

    failed(): void {
        this.lines.print(`${this.current()} ✘ after ${spoken(this.currentSeconds())}`);
    }

    end(): void {
        clearInterval(this.heartbeat);
        this.lines.show([]);
    }

    private beat(): void {
        const text = `${this.current()}: ${spoken(this.currentSeconds())} so far; ${this.left()}${this.lastLine}`;
        if (this.lines.isLive) this.lines.show([text]);
        else this.lines.print(text);
    }

    private current(): string {
        return `[${this.done + 1}/${this.plan.length}] ${this.plan[this.done]?.title}`;
    }

    private currentSeconds(): number {
        return (Date.now() - this.startedMs) / 1000;
    }

    /** The time left, such as `about 12 min left`. */
    private left(): string {
        return `about ${spoken(secondsLeft(this.plan, this.done, this.doneSeconds, this.currentSeconds()))} left`;
    }
}
