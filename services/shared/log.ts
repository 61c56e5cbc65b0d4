import { inspect } from "node:util";
import { destination, pino, stdTimeFunctions, type Logger } from "pino";

export type Log = Logger;

/**
 * Standard output, written every 100 ms or every 4 KiB. One write per line costs a busy program a tenth of its CPU time
 * and wakes the reader each time. Buffered lines are written before every exit except SIGKILL.
 *
 * Not a pino transport: its worker thread needs a file of its own, and a program is one bundled file.
 */
const output = destination({ dest: 1, sync: true, minLength: 4_096, periodicFlush: 100 });
process.on("exit", () => output.flushSync());

/**
 * A program's log: one JSON object per line on standard output, with `service`, `level` (a word), `time` (ISO 8601,
 * UTC) and `msg`.
 *
 * @param service the name of the program and its workload
 * @param level the lowest level written
 */
export function createLog(service: string, level = "info"): Log {
    const options = {
        level,
        base: { service },
        timestamp: stdTimeFunctions.isoTime,
        formatters: { level: (label: string) => ({ level: label }) },
    };
    return pino(options, output);
}

/** An error's message; of an AggregateError, all messages. For the log, never for clients. */
export function reasonOf(error: unknown): string | undefined {
    if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
    return error instanceof Error || error === undefined ? error?.message : inspect(error);
}
