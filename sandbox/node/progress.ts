import { terminalNodeReporter } from "./terminal-progress";

/** Hears how bringing the node up or down goes on. */
export interface NodeReporter {
    /** A step begins, and with it the one before has ended. */
    step(title: string): void;
    /** A detail of the current step. */
    detail(text: string): void;
}

/** A reporter whose display must be ended, so that nothing else is written into it. */
export interface NodeDisplay extends NodeReporter {
    end(): Promise<void>;
}

/** The reporter for where this process writes: a live list on a terminal, plain lines in a log. */
export async function nodeReporterFor(stream: NodeJS.WriteStream = process.stderr): Promise<NodeDisplay> {
    if (stream.isTTY && !process.env.CI) return terminalNodeReporter();
    return { ...lineReporter((line) => stream.write(`${line}\n`)), end: async () => undefined };
}

/** Says each step in a line with the time since the first. */
export function lineReporter(say: (line: string) => void): NodeReporter {
    const startedMs = Date.now();
    const elapsed = (): string => `${((Date.now() - startedMs) / 1000).toFixed(1).padStart(5)} s`;
    return {
        step: (title) => say(`${elapsed()}  ${title}`),
        detail: (text) => say(`${elapsed()}    ${text}`),
    };
}
