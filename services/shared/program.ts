import type { Hono } from "hono";
import type * as z from "zod/mini";
import { EnvironmentError, readEnvironment } from "./environment";
import { createLog, type Log } from "./log";
import { startServer } from "./server";

interface ProgramEnvironment {
    PORT: number;
    LOG_LEVEL: string;
    /** How long it keeps serving after SIGTERM, in milliseconds. @default 0 */
    SHUTDOWN_DELAY_MS?: number;
}

/** A program, ready to serve. */
export interface Program {
    application: Hono;
    /** The log with fields of the program. @default without */
    log?: Log;
    /** Releases resources (database pool, broker connection) after the last request. */
    close?: () => Promise<void>;
}

/**
 * Builds and serves a program. On SIGTERM or SIGINT it keeps serving for its delay, drains, and exits with 0. An
 * invalid environment, a port in use or an unexpected error is logged, and the exit code is 1.
 *
 * @param name the program's name in its log
 * @param schema of the environment
 */
export function runProgram<Environment extends ProgramEnvironment>(
    name: string,
    schema: z.ZodMiniType<Environment>,
    build: (environment: Environment, log: Log) => Program,
): void {
    let log = createLog(name);
    const fail = (error: unknown) => {
        if (error instanceof EnvironmentError) {
            log.fatal({ mistakes: error.mistakes }, `${name} cannot start: invalid environment`);
        } else {
            log.fatal({ err: error }, `${name} failed: ${error instanceof Error ? error.message : String(error)}`);
        }
        process.exit(1);
    };
    process.on("uncaughtException", fail);
    process.on("unhandledRejection", fail);

    const run = async () => {
        const environment = readEnvironment(schema);
        const { PORT: port, LOG_LEVEL: level, SHUTDOWN_DELAY_MS: delayMs = 0 } = environment;
        const ownLog = createLog(name, level);
        const program = build(environment, ownLog);
        log = program.log ?? ownLog;
        const server = await startServer(program.application, port);
        log.info({ port: server.port }, `${name} listens`);

        let stopping = false;
        const stop = async (signal: string) => {
            if (stopping) return;
            stopping = true;
            log.info({ signal, delayMs }, `${name} stops`);
            const cut = await server.stop(delayMs);
            await program.close?.();
            log.info({ connectionsCut: cut }, `${name} stopped`);
            process.exit(0);
        };
        // Process 1 of a container has no default handlers for these signals.
        process.on("SIGTERM", (signal) => void stop(signal).catch(fail));
        process.on("SIGINT", (signal) => void stop(signal).catch(fail));
    };
    run().catch(fail);
}

/**
 * Starts one program of a bundle, named by the first argument: `node bundle.js gateway`. The programs of a bundle share
 * most of their libraries, which the cluster and the stack's state hold once. Only the named program's modules run.
 *
 * @param programs imports of the programs, by name
 */
export function runNamed(programs: Record<string, () => Promise<unknown>>): void {
    const [, , name = ""] = process.argv;
    const load = programs[name];
    if (!load) throw new Error(`unknown program "${name}"; this bundle has ${Object.keys(programs).join(", ")}`);
    void load();
}
