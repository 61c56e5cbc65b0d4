import { destination, pino, stdTimeFunctions, type Logger } from "pino";

export type Log = Logger;

/**
 * Standard output, written to once a tenth of a second, or when there is enough for a page of memory: to write each line
 * by itself costs a busy program a tenth of its work, and its reader wakes up and takes the processor from it. What is
 * held back is written before an exit of whatever kind but SIGKILL.
 *
 * In this thread: a program is one bundled file, where pino's worker transports could not find their own.
 */
const output = destination({ dest: 1, sync: true, minLength: 4_096, periodicFlush: 100 });
process.on("exit", () => output.flushSync());

/**
 * The log of one program: a JSON object a line on standard output, with `service`, `level` (a word), `time`
 * (ISO 8601, UTC) and `msg`.
 *
 * @param service the program's name, as its workload is called
 * @param level the least level written
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

/** What an error says, and where it wraps several, what each says; for a log's line, never for a client. */
export function reasonOf(error: unknown): string | undefined {
    if (error instanceof AggregateError) {
        return error.errors.map(reasonOf).join("; ");
    }
    return error instanceof Error ? error.message : error === undefined ? undefined : String(error);
}
