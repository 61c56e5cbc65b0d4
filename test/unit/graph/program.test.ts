import * as pulumi from "@pulumi/pulumi";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { register } from "tsx/cjs/api";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import program from "../../../index";
import { kubeconfigOf } from "../../support/kubeconfig";
import { scratchFolder } from "../../support/scratch";
import { serving } from "../../support/serving";
import { type Asked, recordGraph } from "./support";

const folder = scratchFolder();
// A cluster that has nothing but its own identity.
const server = serving(({ url }, response) => {
    const [, name] = /\/(?:namespaces|leases)\/([^/?]+)$/.exec(url!) ?? [];
    const isFound = name === undefined || name === "kube-system";
    response.writeHead(isFound ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isFound ? { metadata: { name, uid: "a" }, items: [] } : { kind: "Status" }));
});
// Saved experiments are TypeScript, which the programs of `npm run` load by tsx.
const unregister = register();
beforeAll(() => {
    writeFileSync(join(folder, "config"), kubeconfigOf("kind-a", server.url));
    vi.stubEnv("KUBECONFIG", join(folder, "config"));
});
afterAll(() => {
    unregister();
    vi.unstubAllEnvs();
});

it("an agent's manifest that cannot be installed is refused before anything is made", async () => {
    const manifest = join(folder, "agent.yaml");
    writeFileSync(manifest, "{apiVersion: vendor.io/v1, kind: DaemonSet, metadata: {name: agent}, key: <AGENT_KEY>}");
    const settings = { "agent.install": "manifest", "agent.manifest": manifest, "agent.key": "a-secret-key" };
    const entries = Object.entries(settings).map(([key, value]) => [`chaos-shop:${key}`, value]);
    pulumi.runtime.setAllConfig(Object.fromEntries(entries) as Record<string, string>, ["chaos-shop:agent.key"]);
    onTestFinished(() => pulumi.runtime.setAllConfig({}));
    const asked: Asked[] = [];
    await expect(recordGraph(program, {}, false, asked)).rejects.toThrow(
        /DaemonSet agent: the cluster has no kind DaemonSet in vendor\.io\/v1/,
    );
    expect(asked.filter(({ type }) => /^(?:kubernetes|chaos-shop):/.test(type))).toEqual([]);
});
