import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { removeNamespaces } from "../../../bench/cluster";
import { project } from "../../../cli/stack-file";
import { defaultAgentNamespace } from "../../../components/configuration/agent";
import type { Cluster } from "../../../chaos/cluster/client";
import { temporaryPrefix, useBackend } from "../shop/support";

const namespace = "e2e-workshop";
const namespaces = [namespace, defaultAgentNamespace(namespace)];
let cluster: Cluster;
let backend: string;
beforeAll(async () => {
    backend = mkdtempSync(join(tmpdir(), temporaryPrefix));
    cluster = await useBackend(backend);
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

it("every exercise, done as its page says, has the verdicts of the page", async () => {
    const { code, output } = await workshop("--check");
    expect(output.slice(output.indexOf("The page and these runs"))).not.toContain("the page has");
    expect(code).toBe(0);
}, 1_800_000);
