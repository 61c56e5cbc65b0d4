import { pino, stdTimeFunctions, type Logger } from "pino";

export type Log = Logger;

/**
 * The log of one program: a JSON object a line on standard output, with `service`, `level` (a word), `time`
 * (ISO 8601, UTC) and `msg`. Written synchronously and in this thread: a program is one bundled file, where pino's
 * worker transports could not find their own, and a line written before an exit must not be lost.
 *
 * @param service the program's name, as its workload is called
 * @param level the least level written
 */
export function createLog(service: string, level = "info"): Log {
    return pino({
        level,
        base: { service },
        timestamp: stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
    });
}

/** What an error says, and where it wraps several, what each says; for a log's line, never for a client. */
export function reasonOf(error: unknown): string | undefined {
    if (error instanceof AggregateError) {
        return error.errors.map(reasonOf).join("; ");
    }
    return error instanceof Error ? error.message : error === undefined ? undefined : String(error);
}
