import * as pulumi from "@pulumi/pulumi";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { register } from "tsx/cjs/api";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import program from "../../../index";
import { type Asked, recordGraph } from "./support";

const folder = mkdtempSync(join(tmpdir(), "chaos-shop-program-"));
const usual = process.env.KUBECONFIG;
let server: Server;
// Saved experiments are TypeScript, which the programs of `npm run` load by tsx.
const unregister = register();
beforeAll(async () => {
    // A cluster that has nothing but its own identity.
    server = createServer(({ url }, response) => {
        const [, name] = /\/(?:namespaces|leases)\/([^/?]+)$/.exec(url!) ?? [];
        const isFound = name === undefined || name === "kube-system";
        response.writeHead(isFound ? 200 : 404, { "content-type": "application/json" });
        response.end(JSON.stringify(isFound ? { metadata: { name, uid: "a" }, items: [] } : { kind: "Status" }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    process.env.KUBECONFIG = join(folder, "config");
    const config = {
        clusters: [{ name: "kind-a", cluster: { server: address, "insecure-skip-tls-verify": true } }],
        users: [{ name: "kind-a", user: {} }],
        contexts: [{ name: "kind-a", context: { cluster: "kind-a", user: "kind-a" } }],
        "current-context": "kind-a",
    };
    writeFileSync(process.env.KUBECONFIG, JSON.stringify(config));
});
afterAll(() => {
    unregister();
    server.close();
    rmSync(folder, { recursive: true });
    if (usual === undefined) delete process.env.KUBECONFIG;
    else process.env.KUBECONFIG = usual;
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
