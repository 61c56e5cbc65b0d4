import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import postgres from "postgres";
import { describeUnless, whyNotInstalled } from "./debian";
import { freePort } from "./ports";
import { local, until } from "../../support/until";

const SOURCE = resolve(__dirname, "../../../services/database");

const OWNER_PASSWORD = "owner's secret";
export const READER_PASSWORD = "reader secret";
export const ORDERS_PASSWORD = "orders' secret";
export const INVENTORY_PASSWORD = "inventory secret";
const passwords = {
    owner: OWNER_PASSWORD,
    reader: READER_PASSWORD,
    orders: ORDERS_PASSWORD,
    inventory: INVENTORY_PASSWORD,
};

/**
 * Why PostgreSQL is not available, or undefined if it is. Root on Debian installs it if it is missing. Elsewhere, tests
 * that need it are skipped for this reason.
 */
function whyNoPostgres(): string | undefined {
    const versions = "/usr/lib/postgresql";
    // The client package alone makes a version's folder as well.
    const isThere = () =>
        existsSync(versions) &&
        readdirSync(versions).some((version) => existsSync(join(versions, version, "bin", "postgres")));
    return whyNotInstalled("PostgreSQL", "postgresql-15", isThere, () => {
        // Otherwise the package creates and starts a database.
        const clusterSettings = "/etc/postgresql-common/createcluster.conf";
        if (!existsSync(clusterSettings)) {
            mkdirSync("/etc/postgresql-common", { recursive: true });
            writeFileSync(clusterSettings, "create_main_cluster = false\n");
        }
    });
}

/** A group of tests that need PostgreSQL. */
export function describeOnPostgres(title: string, tests: () => void): void {
    describeUnless(whyNoPostgres(), title, tests);
}

/** The shop's database as its pod runs it, in a new folder and not as root. */
export class TestDatabase {
    readonly folder = mkdtempSync(join(tmpdir(), "shop-database-"));
    readonly dataFolder = join(this.folder, "volume", "shop");
    private server: ChildProcess | undefined;
    private written = "";
    /** Whether all processes that write to the server's output have ended. */
    private closed = true;

    private constructor(readonly port: number) {
        // A copy, like a ConfigMap: the other user may not be able to read the repository.
        cpSync(SOURCE, join(this.folder, "configuration"), { recursive: true });
        for (const name of [".", "volume", "run"]) {
            mkdirSync(join(this.folder, name), { recursive: true });
            const owner = unprivilegedUser();
            if (owner !== undefined) {
                chownSync(join(this.folder, name), owner.uid, owner.gid);
            }
        }
        mkdirSync(join(this.folder, "passwords"));
        for (const account of Object.keys(passwords) as (keyof typeof passwords)[])
            this.setPassword(account, passwords[account]);
    }

    /** Writes the file with an account's password. */
    setPassword(account: keyof typeof passwords, password: string): void {
        writeFileSync(join(this.folder, "passwords", account), password);
    }

    /** Creates the folders, starts nothing. */
    static async create(): Promise<TestDatabase> {
        return new TestDatabase(await freePort());
    }

    static async started(): Promise<TestDatabase> {
        const database = await TestDatabase.create();
        await database.start();
        return database;
    }

    /** Runs `start.sh` and returns at once. @param environment overrides the default variables */
    launch(environment: Record<string, string> = {}): ChildProcess {
        const owner = unprivilegedUser();
        this.written = "";
        // A new process group, to kill all processes at once, as when a container dies.
        const server = spawn("sh", [join(this.folder, "configuration", "start.sh")], {
            env: {
                PATH: process.env.PATH ?? "",
                PGDATA: this.dataFolder,
                RUN_DIR: join(this.folder, "run"),
                PGPORT: String(this.port),
                PASSWORDS: join(this.folder, "passwords"),
                ...environment,
            },
            stdio: ["ignore", "pipe", "pipe"],
            detached: true,
            ...(owner && { uid: owner.uid, gid: owner.gid }),
        });
        server.stdout.on("data", (chunk) => (this.written += chunk));
        server.stderr.on("data", (chunk) => (this.written += chunk));
        this.server = server;
        this.closed = false;
        server.once("close", () => (this.closed = true));
        return server;
    }

    /** Runs `start.sh` until the database answers queries. */
    async start(environment: Record<string, string> = {}): Promise<void> {
        const server = this.launch(environment);
        await until(
            "the database accepts a query",
            async () => {
                if (server.exitCode !== null) {
                    throw new Error(`start.sh exited with ${server.exitCode}:\n${this.written}`);
                }
                return this.query((sql) => sql`select 1`).then(
                    () => true,
                    () => false,
                );
            },
            { ...local, timeoutMs: 30_000 },
        );
    }

    /** Queries the database over the network, on a new connection. */
    async query<Rows>(
        ask: (sql: postgres.Sql) => Promise<Rows>,
        user = "shop_reader",
        password = READER_PASSWORD,
    ): Promise<Rows> {
        const sql = postgres({
            host: "127.0.0.1",
            port: this.port,
            user,
            password,
            database: "shop",
            max: 1,
            connect_timeout: 2,
            onnotice: () => {},
        });
        try {
            return await ask(sql);
        } finally {
            await sql.end({ timeout: 1 });
        }
    }

    /** As the account that may change the shop's tables. */
    asOwner<Rows>(ask: (sql: postgres.Sql) => Promise<Rows>): Promise<Rows> {
        return this.query(ask, "shop", OWNER_PASSWORD);
    }

    output(): string {
        return this.written;
    }

    /** Sends SIGTERM, as a kubelet does, and resolves with the exit code. */
    stop(): Promise<number | null> {
        return this.end("SIGTERM");
    }

    /** Kills all of its processes, as when the container is out of memory. */
    async kill(): Promise<void> {
        await this.end("SIGKILL");
    }

    /** Kills the shell that watches the server, but not the server. */
    async killShellOnly(): Promise<void> {
        const server = this.server!;
        const exited = new Promise((resolve) => server.once("exit", resolve));
        server.kill("SIGKILL");
        await exited;
    }

    /** Kills it and removes its folder. */
    async remove(): Promise<void> {
        await this.kill();
        rmSync(this.folder, { recursive: true, force: true });
    }

    private async end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null> {
        const server = this.server;
        if (server === undefined || this.closed) {
            return server?.exitCode ?? null;
        }
        const closed = new Promise<number | null>((resolve) => server.once("close", (code) => resolve(code)));
        process.kill(signal === "SIGKILL" ? -server.pid! : server.pid!, signal);
        return closed;
    }
}

/** The user to run PostgreSQL as, which refuses root; undefined if this is not root. */
function unprivilegedUser(): { uid: number; gid: number } | undefined {
    if (process.getuid?.() !== 0) {
        return undefined;
    }
    const id = (option: string) => Number(execFileSync("id", [option, "nobody"], { encoding: "utf8" }));
    return { uid: id("-u"), gid: id("-g") };
}
