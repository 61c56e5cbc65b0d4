import { PlanClock, type Planned, spoken } from "./estimate";
import { terminalReporter } from "./terminal-reporter";

/** Hears how the making of parts goes on. All methods return at once, but `end`. */
export interface PartsReporter {
    /** Somebody else makes parts at the moment: process `pid`. */
    waiting(pid: string): void;
    /** What will be made, in this order. Not called when nothing is to be made. */
    begin(plan: readonly Planned[]): void;
    /** The next part of the plan begins. */
    started(index: number): void;
    /** The current part's builder wrote a line. */
    line(text: string): void;
    finished(index: number, seconds: number): void;
    failed(index: number): void;
    /** No more is to come; resolves when everything is shown. */
    end(): Promise<void>;
}

/** How often a log without a terminal hears that something still goes on. */
const HEARTBEAT_SECONDS = 20;

/** The reporter for where this process writes: a live list on a terminal, plain lines in a log. */
export async function reporterFor(stream: NodeJS.WriteStream = process.stderr): Promise<PartsReporter> {
    if (!stream.isTTY || process.env.CI) return plainReporter((line) => stream.write(`${line}\n`));
    return terminalReporter(stream);
}

/** Says each beginning and end in a line, and every {@link HEARTBEAT_SECONDS} that something still goes on. */
export function plainReporter(say: (line: string) => void): PartsReporter {
    const clock = new PlanClock();
    let lastLine = "";
    let heartbeat: NodeJS.Timeout | undefined;
    const about = (index: number) => `[${index + 1}/${clock.plan.length}] ${clock.plan[index]?.title}`;
    const beat = () =>
        say(`${about(clock.done)}: ${spoken(clock.currentSeconds())} so far; ${clock.left()}${lastLine}`);
    return {
        waiting: (pid) => say(`Another process (${pid}) is making parts of the sandbox; waiting for it`),
        begin(plan) {
            clock.begin(plan);
            say(`To be made, once: ${plan.length} parts of the sandbox; ${clock.left()}`);
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
