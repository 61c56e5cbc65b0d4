import { PlanClock, type Planned, spoken } from "./estimate";

/** Shows the progress of builds. All methods but `end` return at once. */
export interface PartsReporter {
    /** Another process is building. */
    waiting(pid: string): void;
    /** Called with all builds in order, unless there are none. */
    begin(plan: readonly Planned[]): void;
    started(index: number): void;
    /** The current build printed a line. */
    line(text: string): void;
    finished(index: number, seconds: number): void;
    failed(index: number): void;
    /** Resolves when everything is shown. */
    end(): Promise<void>;
}

/** How often a log shows that a build is still running. */
const HEARTBEAT_SECONDS = 20;

/** A line at the beginning and end of each build, and every {@link HEARTBEAT_SECONDS} in between. */
export function plainReporter(say: (line: string) => void): PartsReporter {
    const clock = new PlanClock();
    let lastLine = "";
    let heartbeat: NodeJS.Timeout | undefined;
    const about = (index: number) => `[${index + 1}/${clock.plan.length}] ${clock.plan[index]?.title}`;
    const beat = () =>
        say(`${about(clock.done)}: ${spoken(clock.currentSeconds())} so far; ${clock.left()}${lastLine}`);
    return {
        waiting: (pid) => say(`Another process (${pid}) is building; waiting for it`),
        begin(plan) {
            clock.begin(plan);
            say(`Building ${plan.length} parts, once; ${clock.left()}`);
            heartbeat = setInterval(beat, HEARTBEAT_SECONDS * 1000);
            heartbeat.unref();
        },
        started(index) {
            clock.start();
            lastLine = "";
            say(`${about(index)} …`);
        },
        line: (text) => (lastLine = `; at ${text.slice(0, 60)}`),
        finished(index, seconds) {
            say(`${about(index)} ✔ ${spoken(seconds)}`);
            clock.finish(seconds);
        },
        failed: (index) => say(`${about(index)} ✘ after ${spoken(clock.currentSeconds())}`),
        end: async () => clearInterval(heartbeat),
    };
}
