import { connect, type Socket } from "node:net";
import postgres from "postgres";
import type { databaseVariables, ValuesOf } from "./environment";
import { READINESS_TIMEOUT_MS } from "./health";
import { TimeLimitError, within } from "./time";

export interface DatabaseArgs {
    host: string;
    port: number;
    user: string;
    password: string;
    database: string;
    /** How long a query or a transaction may take in all, in milliseconds. */
    queryTimeoutMs: number;
    /** The program's name, as the server's list of connections shows it. */
    program: string;
}

/** The database that a program was told of. @param program its name */
export function databaseOf(environment: ValuesOf<ReturnType<typeof databaseVariables>>, program: string): DatabaseArgs {
    const {
        PGHOST: host,
        PGPORT: port,
        PGUSER: user,
        PGPASSWORD: password,
        PGDATABASE: database,
        QUERY_TIMEOUT_MS: queryTimeoutMs,
    } = environment;
    return { host, port, user, password, database, queryTimeoutMs, program };
}

/** The shop's database, for whatever one account may ask it. */
export interface Database {
    /**
     * Does something with the database. Fails within the query time-out, whatever the network does; what it had begun
     * may have been done all the same.
     */
    ask<Result>(work: (sql: postgres.Sql) => Promise<Result>): Promise<Result>;
    /** Has the server answer over a fresh connection, whatever the others are busy with; throws if it does not within 800 ms. */
    checkFreshConnection(): Promise<void>;
    /** Ends the pooled connections at once, and whatever is asked or waits to be; the next question opens a fresh one. */
    destroyConnections(): void;
    /** Closes the pooled connections. */
    close(): Promise<void>;
}

/**
 * A pool of connections to the database that heals.
 *
 * Two clocks watch a query. The server ends a statement that is merely slow (`statement_timeout`), and the connection
 * lives on. If the client's own, later clock runs out, the server is not heard at all: the network swallows packets,
 * and TCP by itself would go on trying for minutes. Then the whole pool is given up for a new one. To end its connections
 * is not enough: it would keep what waits for one, and do it once there is one, long after whoever asked was refused.
 *
 * What must be done as a whole is one statement, of a function in the database where need be. A transaction of the library's
 * that loses its connection ends the process (porsager/postgres, issue 1208).
 */
export function openDatabase(args: DatabaseArgs): Database {
    let pool = openPool(args);
    const replace = (lost: Pool) => {
        // Other questions that the lost pool was asked fail, too; they must not end its successor.
        if (lost !== pool) return;
        pool = openPool(args);
        void lost.close(0);
    };
    return {
        async ask(work) {
            const asked = pool;
            try {
                return await within(args.queryTimeoutMs, work(asked.sql));
            } catch (error) {
                // An error that the server sent came over a connection that works.
                if (!(error instanceof postgres.PostgresError)) replace(asked);
                throw error;
            }
        },
        checkFreshConnection: () => within(READINESS_TIMEOUT_MS, greet(args)),
        destroyConnections: () => replace(pool),
        close: () => pool.close(0.2),
    };
}

/**
 * Has the server answer over a connection that is opened now and closed again. It is asked for TLS, which it grants or
 * denies with one byte before it does anything else (PostgreSQL's "Message Flow", "SSL Session Encryption"): to log in, too,
 * each second, would cost an idle shop more than all else that it does, and hold up those that it serves.
 */
function greet({ host, port }: DatabaseArgs): Promise<void> {
    return new Promise((resolve, reject) => {
        const socket = connect({ host, port, timeout: READINESS_TIMEOUT_MS }, () => socket.write(tlsRequest));
        socket.once("data", () => {
            resolve();
            socket.destroy();
        });
        socket.once("timeout", () => socket.destroy(new TimeLimitError(READINESS_TIMEOUT_MS)));
        socket.once("error", reject);
        socket.once("close", () => reject(new Error("the database closed a fresh connection without a word")));
    });
}

/** Its length, then a number that no version of the protocol has. */
const tlsRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

interface Pool {
    sql: postgres.Sql;
    /** Ends it, and whatever is not done within the grace, in seconds. */
    close(graceSeconds: number): Promise<void>;
}

/** `postgres` with sockets that can be destroyed from outside; by itself it would wait for them to end. */
function openPool(args: DatabaseArgs): Pool {
    const sockets = new Set<Socket>();
    let ended = false;
    const openSocket = () => {
        // For what it was about to do it may still want one.
        if (ended) throw new Error("the connections to the database have ended");
        const socket = connect({ host: args.host, port: args.port, noDelay: true });
        sockets.add(socket);
        return socket.once("close", () => sockets.delete(socket));
    };
    const options: postgres.Options<Record<string, never>> & { socket: () => Socket } = {
        host: args.host,
        port: args.port,
        user: args.user,
        password: args.password,
        database: args.database,
        max: 4,
        connect_timeout: (args.queryTimeoutMs * (2 / 3)) / 1000,
        idle_timeout: 30,
        // By default it waits up to 20 s before it tries a lost server again; here each request is a try.
        backoff: () => 0,
        // Arrays and their types are not used; asking for them would cost each new connection a query.
        fetch_types: false,
        connection: {
            application_name: args.program,
            statement_timeout: Math.max(1, Math.round(args.queryTimeoutMs * (2 / 3))),
        },
        onnotice: () => {},
        // Missing in the library's types, though documented in its README ("Connection details").
        socket: openSocket,
    };
    const sql = postgres(options);
    const close = async (graceSeconds: number) => {
        await sql.end({ timeout: graceSeconds });
        ended = true;
        sockets.forEach((socket) => socket.destroy());
    };
    return { sql, close };
}
