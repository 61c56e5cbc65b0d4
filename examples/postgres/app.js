// Lists the books of the database, over a pool of connections. index.ts bundles it with its client into one file.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import postgres from "postgres";

const poolSize = 4;
const sql = postgres({
    host: "database",
    database: "postgres",
    username: "library",
    password: () => readFileSync("/password/password", "utf8"),
    max: poolSize,
    /** A connection is replaced when it is older, in seconds. */
    max_lifetime: Number(process.env.CONNECTION_SECONDS),
    connect_timeout: 1,
});

/** Opens all connections of the pool: queries that run at the same time need one each. */
const fillPool = () => Promise.all(Array.from({ length: poolSize }, () => sql`select pg_sleep(0.2)`));
let isFilled = false;
(async () => {
    while (!isFilled)
        isFilled = await fillPool().then(
            () => true,
            () => false,
        );
})();

const server = createServer(async ({ url }, response) => {
    const answer = (status, body) => response.writeHead(status).end(JSON.stringify(body));
    // The readiness probe: it says nothing about the database once the pool was filled.
    if (url === "/ready") return answer(isFilled ? 200 : 503, { ready: isFilled });
    if (url !== "/books") return answer(404, { problem: `there is no ${url}` });
    try {
        answer(200, await sql`select title from book order by title`);
    } catch ({ message }) {
        answer(503, { problem: message });
    }
});
server.listen(8080);
process.on("SIGTERM", () => process.exit());
