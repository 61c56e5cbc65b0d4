import type { Hono } from "hono";
import * as z from "zod/mini";
import { type BrokerArgs, openBroker } from "../shared/broker";
import { type Database, openDatabase } from "../shared/database";
import { measureCalls } from "../shared/calls";
import { brokerVariables, databaseVariables, programVariables } from "../shared/environment";
import type { Log } from "../shared/log";
import { createMetrics, type Metrics } from "../shared/metrics";
import { runProgram } from "../shared/program";
import { watch } from "../shared/watch";

/** What programs with a database and a broker serve. */
export interface BackofficeArgs {
    /** Rejects when neither the database nor the broker can be reached. */
    checkReachability: () => Promise<void>;
    /** How many messages wait in the broker. Rejects if it does not answer. */
    countWaiting: () => Promise<number>;
    metrics: Metrics;
    log: Log;
}

interface Backoffice {
    work: BrokerArgs["work"];
    serve: (args: BackofficeArgs) => Hono;
}

/** Runs a program with a database and a broker. It is ready with one of them: it can still serve problem documents. */
export function runBackoffice(program: "orders" | "inventory", build: (database: Database) => Backoffice): void {
    const variables = { ...programVariables, ...databaseVariables(`shop_${program}`), ...brokerVariables(program) };
    runProgram(program, z.object(variables), (environment, log) => {
        const metrics = createMetrics();
        const measure = measureCalls(metrics);
        const database = openDatabase(environment, program, measure);
        const { work, serve } = build(database);
        const databaseWatch = watch(database.checkFreshConnection, database.destroyConnections);
        const broker = openBroker({ environment, program, log, measure, work });
        const checkReachability = async () => {
            if (!databaseWatch.reachable() && !broker.reachable())
                throw new Error("Neither the database nor the broker can be reached.");
        };
        const close = async () => {
            databaseWatch.stop();
            await broker.close();
            await database.close();
        };
        return { application: serve({ checkReachability, countWaiting: broker.waiting, metrics, log }), close };
    });
}
