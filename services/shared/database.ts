import { connect, type Socket } from "node:net";
import postgres from "postgres";
import type { Measure } from "./calls";
import type { databaseVariables, ValuesOf } from "./environment";
import { within } from "./time";
import { checkPort } from "./watch";

export type DatabaseEnvironment = ValuesOf<ReturnType<typeof databaseVariables>>;

/** The shop's database, as one account sees it. */
export interface Database {
    /**
     * Runs queries. Rejects within the query timeout; the server may have run them all the same.
     */
    ask: <Result>(work: (sql: postgres.Sql) => Promise<Result>) => Promise<Result>;
    /** Checks that the server answers on a fresh connection; rejects if it does not within 800 ms. */
    checkFreshConnection: () => Promise<void>;
    /** Ends the pooled connections and all pending queries at once; the next query opens a fresh connection. */
    destroyConnections: () => void;
    /** Closes the pooled connections. */
    close: () => Promise<void>;
}

/**
 * A connection pool that recovers from network faults.
 *
 * A query has two timeouts. The server cancels a slow statement (`statement_timeout`); the connection stays usable. The
 * client's own timeout is longer. If it expires, the server is unreachable: the network drops packets, and TCP alone
 * would retry for minutes. The client then replaces the whole pool. Closing connections would not be enough: queries
 * that wait for one would run later, long after they were reported to the caller as failed.
 *
 * An atomic change is always one statement, which may call a function in the database. The library's transactions are
 * not used: one that loses its connection ends the process (porsager/postgres, issue 1208).
 *
 * @param program the program's name, shown in the server's list of connections
 * @param measure counts each query and each fresh connection
 */
export function openDatabase(environment: DatabaseEnvironment, program: string, measure: Measure): Database {
    const { PGHOST, PGPORT, QUERY_TIMEOUT_MS } = environment;
    let pool = openPool(environment, program);
    const replace = (lost: Pool) => {
        // Other queries of the lost pool fail as well; they must not end its successor.
        if (lost !== pool) return;
        pool = openPool(environment, program);
        void lost.close(0);
    };
    return {
        async ask(work) {
            const used = pool;
            try {
                return await measure(workload, () => within(QUERY_TIMEOUT_MS, work(used.sql)));
            } catch (error) {
                // An error sent by the server arrived over a working connection.
                if (!(error instanceof postgres.PostgresError)) replace(used);
                throw error;
            }
        },
        checkFreshConnection: () => measure(workload, () => checkPort(PGHOST, PGPORT, tlsRequest)),
        destroyConnections: () => replace(pool),
        close: () => pool.close(0.2),
    };
}

/** The database's, in the metric of calls. */
const workload = "database";

/**
 * PostgreSQL's SSLRequest: its length, then a code in place of a protocol version. The server accepts or denies TLS
 * with one byte before anything else ("Message Flow", "SSL Session Encryption"). A login each second would cost more
 * than all other work of an idle shop.
 */
const tlsRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

type Pool = ReturnType<typeof openPool>;

/** Connections of a pod, at most: the replicas that a stack may have follow from it. */
export const poolSize = 4;

/** `postgres` with sockets that can be destroyed from outside; by itself it waits for them to end. */
function openPool(environment: DatabaseEnvironment, program: string) {
    const { PGHOST: host, PGPORT: port, PGUSER: user, PGPASSWORD: password, PGDATABASE: database } = environment;
    const statementTimeoutMs = environment.QUERY_TIMEOUT_MS * (2 / 3);
    const sockets = new Set<Socket>();
    let ended = false;
    const openSocket = () => {
        // A pending query may still want a connection.
        if (ended) throw new Error("the connections to the database have ended");
        const socket = connect({ host, port, noDelay: true });
        sockets.add(socket);
        return socket.once("close", () => sockets.delete(socket));
    };
    const options: postgres.Options<Record<string, never>> & { socket: () => Socket } = {
        ...{ host, port, user, password, database },
        max: poolSize,
        connect_timeout: statementTimeoutMs / 1000,
        idle_timeout: 30,
        // By default it waits up to 20 s before it retries a lost server; here each query retries.
        backoff: () => 0,
        // Array types are not used; fetching them costs each new connection a query.
        fetch_types: false,
        connection: {
            application_name: program,
            statement_timeout: Math.max(1, Math.round(statementTimeoutMs)),
        },
        onnotice: () => {},
        // Missing in the library's types, but documented in its README ("Connection details").
        socket: openSocket,
    };
    const sql = postgres(options);
    /** Closes the pool; pending queries have the grace period to finish, in seconds. */
    const close = async (graceSeconds: number) => {
        await sql.end({ timeout: graceSeconds });
        ended = true;
        sockets.forEach((socket) => socket.destroy());
    };
    return { sql, close };
}
