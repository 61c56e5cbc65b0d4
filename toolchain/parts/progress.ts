import { LiveLines } from "../live-lines";

/** A build, and for how long it has run or ran. */
interface Build {
    readonly title: string;
    /** The expected time. */
    readonly minutes: number;
    readonly seconds?: number;
    readonly done?: boolean;
}

/** The weight of the expected times, as seconds of measured builds: a short download says little about a long build. */
const TRUST_SECONDS = 300;

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/**
 * Estimates the time left. The pace of this machine is taken from the finished builds: the longer they took, the more
 * they count against the expected times.
 */
export function secondsLeft(builds: readonly Build[]): number {
    const done = builds.filter((build) => build.done);
    const doneExpected = sum(done.map(({ minutes }) => minutes * 60));
    const pace = (sum(done.map(({ seconds = 0 }) => seconds)) + TRUST_SECONDS) / (doneExpected + TRUST_SECONDS);
    const open = builds.filter((build) => !build.done);
    return Math.round(sum(open.map(({ minutes, seconds = 0 }) => Math.max(0, minutes * 60 * pace - seconds))));
}

/** A duration such as `45 s` or `12 min`. */
export function spoken(seconds: number): string {
    return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

/** How often a log shows that a build is still running. */
const HEARTBEAT_SECONDS = 20;

/**
 * Shows the progress of builds: a line at the end of each, and in between the duration of each that runs, the time left
 * and what it printed last. In a log, that is a line every {@link HEARTBEAT_SECONDS}.
 */
export class PartsProgress {
    private readonly builds: (Build & { startedMs?: number; lastLine?: string })[];
    private readonly heartbeat: NodeJS.Timeout;

    constructor(
        plan: readonly Build[],
        private readonly lines: Pick<LiveLines, "print" | "show" | "isLive"> = new LiveLines(process.stderr),
    ) {
        const numbered = (title: string, index: number) => `[${index + 1}/${plan.length}] ${title}`;
        this.builds = plan.map(({ title, minutes }, index) => ({ title: numbered(title, index), minutes }));
        this.lines.print(`Building ${plan.length} parts, once; ${this.left()}`);
        this.heartbeat = setInterval(() => this.beat(), lines.isLive ? 1000 : HEARTBEAT_SECONDS * 1000).unref();
    }

    /** @returns what to call when the build prints a line, has finished or has failed */
    begin(index: number) {
        const { title } = this.builds[index]!;
        const startedMs = Date.now();
        const change = (changes: object) => (this.builds[index] = { ...this.builds[index]!, ...changes });
        const end = (mark: string, done: boolean) => {
            const seconds = (Date.now() - startedMs) / 1000;
            change({ seconds, done, startedMs: undefined });
            this.lines.print(`${title} ${mark} ${spoken(seconds)}`);
        };
        change({ startedMs });
        if (this.lines.isLive) this.beat();
        else this.lines.print(`${title} …`);
        return {
            line: (text: string) => change({ lastLine: `; at ${text.slice(0, 60)}` }),
            finished: () => end("✔", true),
            failed: () => end("✘ after", false),
        };
    }

    end(): void {
        clearInterval(this.heartbeat);
        this.lines.show([]);
    }

    private beat(): void {
        const left = this.left();
        const running = this.now()
            .filter(({ startedMs }) => startedMs !== undefined)
            .map(({ title, seconds = 0, lastLine = "" }) => `${title}: ${spoken(seconds)} so far; ${left}${lastLine}`);
        if (this.lines.isLive) this.lines.show(running);
        else running.forEach(this.lines.print);
    }

    /** The time left, such as `about 12 min left`. */
    private left(): string {
        return `about ${spoken(secondsLeft(this.now()))} left`;
    }

    private now() {
        return this.builds.map((build) =>
            build.startedMs === undefined ? build : { ...build, seconds: (Date.now() - build.startedMs) / 1000 },
        );
    }
}
