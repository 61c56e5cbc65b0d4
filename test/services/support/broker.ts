import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describeUnless, whyNotInstalled } from "./debian";
import { freePort } from "./ports";
import { local, until } from "../../support/until";

/** With characters that mean something in NATS's configuration. */
export const BROKER_PASSWORDS = { orders: "1-orders' $x", inventory: '2-"inventory" \\ #' };

/** A group of tests that need NATS. */
export function describeWithNats(title: string, tests: () => void): void {
    const reason = whyNotInstalled("NATS", "nats-server", () => existsSync("/usr/sbin/nats-server"));
    describeUnless(reason, title, tests);
}

/** The shop's message broker with the shop's configuration, and its data in a new folder. */
export class TestBroker {
    private readonly folder = mkdtempSync(join(tmpdir(), "shop-broker-"));
    private server: ChildProcess | undefined;

    private constructor(
        readonly port: number,
        monitoringPort: number,
    ) {
        const passwords = join(this.folder, "passwords");
        mkdirSync(passwords);
        for (const [account, password] of Object.entries(BROKER_PASSWORDS))
            writeFileSync(join(passwords, account), password);
        const file = join(this.folder, "nats.conf");
        execFileSync("node", [resolve(__dirname, "../../../services/broker/configure.js"), passwords, file]);
        const configuration = readFileSync(file, "utf8");
        const moved = configuration
            .replace("port: 4222", `port: ${port}`)
            .replace("http_port: 8222", `http_port: ${monitoringPort}`)
            .replace("store_dir: /data", `store_dir: ${JSON.stringify(join(this.folder, "data"))}`);
        writeFileSync(file, moved);
    }

    static async started(): Promise<TestBroker> {
        const broker = new TestBroker(await freePort(), await freePort());
        await broker.start();
        return broker;
    }

    async start(): Promise<void> {
        const server = spawn("/usr/sbin/nats-server", ["--config", join(this.folder, "nats.conf")], {
            env: {},
            stdio: "pipe",
        });
        let output = "";
        server.stderr.on("data", (chunk) => (output += chunk));
        this.server = server;
        await until(
            "the broker listens",
            () => {
                if (server.exitCode !== null) throw new Error(`nats-server exited with ${server.exitCode}: ${output}`);
                return canConnect(this.port);
            },
            local,
        );
    }

    /** Kills it; its data stay. */
    async kill(): Promise<void> {
        const server = this.server;
        if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
        const exited = new Promise((done) => server.once("exit", done));
        server.kill("SIGKILL");
        await exited;
    }

    /** Kills it and removes its data, as a lost pod with an `emptyDir` does. */
    async lose(): Promise<void> {
        await this.kill();
        rmSync(join(this.folder, "data"), { recursive: true, force: true });
    }

    async remove(): Promise<void> {
        await this.kill();
        rmSync(this.folder, { recursive: true, force: true });
    }
}

function canConnect(port: number): Promise<boolean> {
    return new Promise((done) => {
        const socket = connect({ host: "127.0.0.1", port });
        socket.once("connect", () => {
            socket.destroy();
            done(true);
        });
        socket.once("error", () => done(false));
    });
}
