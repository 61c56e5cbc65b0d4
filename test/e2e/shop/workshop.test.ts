import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { removeNamespaces } from "../../../bench/cluster";
import { project } from "../../../cli/stack-file";
import { defaultAgentNamespace } from "../../../components/configuration/agent";
import { type Cluster, connect } from "../../../chaos/cluster/client";
import { sandboxUp } from "../../../sandbox/node/up";
import { fileBackend } from "../../../toolchain/pulumi/environment";

const namespace = "e2e-workshop";
const namespaces = [namespace, defaultAgentNamespace(namespace)];
let cluster: Cluster;
let backend: string;
beforeAll(async () => {
    const { kubeconfig, context } = await sandboxUp();
    backend = mkdtempSync(join(tmpdir(), "chaos-shop-e2e-"));
    Object.assign(process.env, {
        KUBECONFIG: kubeconfig,
        PULUMI_BACKEND_URL: fileBackend(backend),
        PULUMI_CONFIG_PASSPHRASE: "only for this test",
    });
    cluster = connect({ context });
    await removeNamespaces(cluster, namespaces);
});
afterAll(async () => {
    await removeNamespaces(cluster, namespaces);
    rmSync(backend, { recursive: true, force: true });
});

function workshop(...args: string[]): Promise<{ code: number | null; output: string }> {
    const options = ["--set", `namespace=${namespace}`, "--set", "agent.enabled=false"];
    const child = spawn(process.execPath, ["--import", "tsx", "cli/workshop.ts", ...args, ...options], {
        cwd: project,
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

// Those that change no source file: other tests read these files at the same time.
it.each([1, 4])("exercise %i of the workshop, done as its page says, has the verdicts of the page", async (number) => {
    const { code, output } = await workshop("--check", String(number));
    expect(output.slice(output.indexOf("The page and these runs"))).not.toContain("the page has");
    expect(code).toBe(0);
});
