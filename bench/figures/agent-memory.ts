import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { heap } from "../../components/agent/builtin";
import { nodeEnvironment, servicesFolder } from "../../components/base/program";
import { targetsPath } from "../../chaos/targets/agent-contract";
import { bundledFile } from "../../toolchain/bundle";
import type { Figure } from "../figure";
import { freePort, peakMegabytes } from "../local-process";
import { type GeneratedApiServer, generatedApiServer } from "../generated-api-server";
import { namespaces } from "../session";

const pods = 5_000;
const rounds = 3;

export const agentMemory: Figure = {
    name: "agent-memory",
    meaning:
        `peak memory of an agent that lists ${pods} generated pods, ` +
        "receives a change of each, lists them again and serves them",
    bar: 100,
    unit: "MB",
    async measure(session) {
        await session.runningShop();
        const { items } = await session.cluster.core.listNamespacedPod({
            namespace: namespaces.shop,
            labelSelector: "app=hot-deals",
        });
        const api = await generatedApiServer(items[0]!, pods);
        const agent = await startAgent(api);
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
                made: `peak ${samples.map((sample) => sample.toFixed(1)).join(", ")} MB after ${rounds} rounds`,
                samples: { peak: samples },
            };
        } finally {
            agent.end();
            api.close();
        }
    },
};

/** Starts the agent's program on this machine, with the options of its pods. */
async function startAgent(api: GeneratedApiServer) {
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
    const program = bundledFile(join(servicesFolder, "agent", "main.ts"));
    const child = spawn(process.execPath, [...heap, program], { env, stdio: "ignore" });
    return {
        /** @throws Error if it does not list all pods */
        async ask(): Promise<void> {
            const headers = { authorization: `Bearer ${key}` };
            const answer = await fetch(`http://127.0.0.1:${port}${targetsPath}`, { headers });
            const { targets } = (await answer.json()) as { targets: unknown[] };
            if (targets.length !== pods)
                throw new Error(`the agent listed ${targets.length} containers instead of ${pods}`);
        },
        peakMegabytes: () => peakMegabytes(child.pid!),
        end(): void {
            child.kill();
            rmSync(folder, { recursive: true, force: true });
        },
    };
}
