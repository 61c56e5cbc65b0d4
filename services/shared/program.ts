import type { Hono } from "hono";
import { EnvironmentError } from "./environment";
import { createLog, type Log } from "./log";
import { startServer } from "./server";

/** A program that is built and waits for requests. */
export interface Program {
    application: Hono;
    port: number;
    log: Log;
    /** How long it goes on serving after it was told to stop, in milliseconds. @default 0 */
    shutdownDelayMs?: number;
    /** Lets go of what the program holds (a database pool, a broker), after the last request ended. */
    close?: () => Promise<void>;
}

/**
 * Runs one program of the shop from its first line to its exit code: builds it, serves it, and on SIGTERM or SIGINT
 * serves on for its delay, drains it and exits with 0. A mistake in the environment, a port in use or an unforeseen
 * error is logged and exits with 1.
 *
 * How Node is to run it says `components/shop/nodeOptions.ts`.
 *
 * @param name the program's name in its log
 * @param build reads the environment and builds the program; called once
 */
export function runProgram(name: string, build: () => Program): void {
    let log = createLog(name);
    const fail = (error: unknown) => {
        if (error instanceof EnvironmentError) {
            log.fatal({ mistakes: error.mistakes }, `${name} cannot start: its environment is wrong`);
        } else {
            log.fatal({ err: error }, `${name} ends: ${error instanceof Error ? error.message : String(error)}`);
        }
        process.exit(1);
    };
    process.on("uncaughtException", fail);
    process.on("unhandledRejection", fail);

    const run = async () => {
        const program = build();
        log = program.log;
        const server = await startServer(program.application, program.port);
        log.info({ port: server.port }, `${name} listens`);

        let stopping = false;
        const stop = async (signal: string) => {
            if (stopping) {
                return;
            }
            stopping = true;
            log.info({ signal, delayMs: program.shutdownDelayMs ?? 0 }, `${name} stops`);
            const cut = await server.stop(program.shutdownDelayMs);
            await program.close?.();
            log.info({ connectionsCut: cut }, `${name} stopped`);
            process.exit(0);
        };
        // As process 1 of a container nothing but these handlers makes the signals mean anything.
        process.on("SIGTERM", (signal) => void stop(signal).catch(fail));
        process.on("SIGINT", (signal) => void stop(signal).catch(fail));
    };
    run().catch(fail);
}

/**
 * Several programs in one bundle, of which the process's first argument names the one that it is to be. The libraries that
 * they have in common, most of each, are in the cluster and in the stack's state once, and only what the one needs is run.
 *
 * @param programs how to load each, by its name
 */
export function runNamed(programs: Record<string, () => unknown>): void {
    const [, name = "none"] = process.argv;
    const load = programs[name];
    if (!load)
        throw new Error(`there is no program ${name} in this bundle; there are: ${Object.keys(programs).join(", ")}`);
    load();
}
