import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { heap } from "../../components/agent/builtin";
import { nodeEnvironment, servicesFolder } from "../../components/program/program";
import { targetsPath } from "../../shared/agent";
import { bundledFile } from "../../shared/bundle";
import type { Figure } from "../figure";
import { type GeneratedApiServer, generatedApiServer } from "../generatedApiServer";
import { namespaces, type Session } from "../session";

const pods = 5_000;
const rounds = 3;

export function agentMemory(session: Session): Figure {
    return {
        name: "agent-memory",
        meaning: `the most that an agent had in memory while it listed ${pods} generated pods, followed a change of each, listed them anew and was asked for them`,
        bar: 100,
        unit: "MB",
        async measure() {
            await session.runningShop();
            const { items } = await session.cluster.core.listNamespacedPod({
                namespace: namespaces.shop,
                labelSelector: "app=hot-deals",
            });
            const api = await generatedApiServer(items[0]!, pods);
            const agent = await AgentProcess.start(api);
            try {
                const samples: number[] = [];
                for (let round = 0; round < rounds; round++) {
                    await api.watched();
                    api.changeAll();
                    await agent.ask();
                    api.endWatches();
                    await agent.ask();
                    samples.push(agent.peakMegabytes());
                }
                return {
                    value: samples.at(-1)!,
                    made: `${samples.map((sample) => sample.toFixed(1)).join(", ")} MB at most by then, in ${rounds} rounds`,
                    samples: { peak: samples },
                };
            } finally {
                agent.end();
                api.close();
            }
        },
    };
}

/** The agent's program as its pods run it, on this machine. */
class AgentProcess {
    private constructor(
        private readonly child: ChildProcess,
        private readonly folder: string,
        private readonly url: string,
        private readonly key: string,
    ) {}

    static async start(api: GeneratedApiServer): Promise<AgentProcess> {
        const folder = mkdtempSync(join(tmpdir(), "chaos-shop-bench-agent-"));
        const key = randomBytes(32).toString("hex");
        for (const [file, text] of Object.entries({ token: "none is asked for", "ca.crt": api.authority, key }))
            writeFileSync(join(folder, file), text, { mode: 0o600 });
        const port = await freePort();
        const env = {
            ...nodeEnvironment,
            PORT: String(port),
            NODE_NAME: "bench",
            CLUSTER_NAME: "bench",
            KEY_FILE: join(folder, "key"),
            ACCOUNT_FOLDER: folder,
            KUBERNETES_SERVICE_HOST: "127.0.0.1",
            KUBERNETES_SERVICE_PORT: String(api.port),
        };
        const child = spawn(process.execPath, [...heap, bundledFile(join(servicesFolder, "agent", "main.ts"))], {
            env,
            stdio: "ignore",
        });
        return new AgentProcess(child, folder, `http://127.0.0.1:${port}`, key);
    }

    /** @throws Error where it does not list them all */
    async ask(): Promise<void> {
        const answer = await fetch(this.url + targetsPath, { headers: { authorization: `Bearer ${this.key}` } });
        const { targets } = (await answer.json()) as { targets: unknown[] };
        if (targets.length !== pods)
            throw new Error(`the agent listed ${targets.length} containers instead of ${pods}`);
    }

    /** The most that it had resident until now, in 10^6 bytes; VmHWM is in KiB (proc_pid_status(5)). */
    peakMegabytes(): number {
        return (
            (Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.child.pid}/status`, "utf8"))![1]) * 1_024) /
            1e6
        );
    }

    end(): void {
        this.child.kill();
        rmSync(this.folder, { recursive: true, force: true });
    }
}

/** A port that nobody listens on now. */
async function freePort(): Promise<number> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    return port;
}
