import { connect, type Socket } from "node:net";
import postgres from "postgres";
import { READINESS_TIMEOUT_MS } from "../shared/health";
import type { Category, Product } from "../shared/products";
import { within } from "../shared/time";

export interface DatabaseArgs {
    host: string;
    port: number;
    user: string;
    password: string;
    database: string;
    /** How long a query may take in all, in milliseconds. */
    queryTimeoutMs: number;
}

/** The product database as the catalogue needs it. */
export interface ProductDatabase {
    /** The products of a category by name. Fails within the query time-out, whatever the network does. */
    products(category: Category): Promise<Product[]>;
    /** Opens a connection of its own, logs in, asks something and closes it; throws if that fails within 800 ms. */
    checkFreshConnection(): Promise<void>;
    /** Closes the pooled connections. */
    close(): Promise<void>;
}

/**
 * A pool of connections to the product database that heals.
 *
 * Two clocks watch a query. The server ends a statement that is merely slow (`statement_timeout`), and the connection
 * lives on. If the client's own, later clock runs out, the server is not heard at all: the network swallows packets,
 * and TCP by itself would go on trying for minutes. Then the pool's connections are destroyed, and the next query
 * opens a fresh one.
 */
export function openProductDatabase(args: DatabaseArgs): ProductDatabase {
    const pool = openConnections(args, { max: 4, connectTimeoutMs: args.queryTimeoutMs * (2 / 3) });
    return {
        async products(category) {
            try {
                const query = pool.sql<Product[]>`
                    select id, name, category from product where category = ${category} order by name`;
                return await within(args.queryTimeoutMs, query.execute());
            } catch (error) {
                // An error that the server sent came over a connection that works.
                if (!(error instanceof postgres.PostgresError)) {
                    pool.destroyConnections();
                }
                throw error;
            }
        },
        async checkFreshConnection() {
            const probe = openConnections(args, { max: 1, connectTimeoutMs: READINESS_TIMEOUT_MS });
            try {
                await within(READINESS_TIMEOUT_MS, probe.sql`select 1`.execute());
            } finally {
                void probe.close();
            }
        },
        close: () => pool.close(),
    };
}

/** `postgres` with sockets that can be destroyed from outside; by itself it would wait for them to end. */
function openConnections(args: DatabaseArgs, limits: { max: number; connectTimeoutMs: number }) {
    const sockets = new Set<Socket>();
    const destroyConnections = () => sockets.forEach((socket) => socket.destroy());
    const openSocket = () => {
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
        max: limits.max,
        connect_timeout: limits.connectTimeoutMs / 1000,
        idle_timeout: 30,
        // By default it waits up to 20 s before it tries a lost server again; here each request is a try.
        backoff: () => 0,
        // Arrays and their types are not used; asking for them would cost each new connection a query.
        fetch_types: false,
        connection: {
            application_name: "catalogue",
            statement_timeout: Math.max(1, Math.round(args.queryTimeoutMs * (2 / 3))),
        },
        onnotice: () => {},
        // Missing in the library's types, though documented in its README ("Connection details").
        socket: openSocket,
    };
    const sql = postgres(options);
    const close = async () => {
        await sql.end({ timeout: 0.2 });
        destroyConnections();
    };
    return { sql, destroyConnections, close };
}
