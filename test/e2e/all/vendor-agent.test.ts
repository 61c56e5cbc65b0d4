import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Repository } from "../repository";
import { TestStack } from "../shop/support";
import { everywhere, SecretWatch } from "../agent/secrets";
import { chartName, manifest, vendorRepository } from "./vendor";
import { inOrder } from "../../support/in-order";

const namespace = "e2e-vendor";
const agentNamespace = "e2e-vendor-agent";
const rbacVersion = "rbac.authorization.k8s.io/v1";
const noImage = "docker.io/library/node:20.0.0-none";
let stack: TestStack;
let secrets: SecretWatch;
let vendor: Repository;

beforeAll(async () => {
    vendor = await vendorRepository();
    stack = await TestStack.open(namespace);
    secrets = new SecretWatch(stack, [agentNamespace]);
    await newKey();
    // What is tested is the agent: without replicas the shop is quick.
    const none = Object.fromEntries(
        ["gateway", "fashion-bestseller", "toys-bestseller", "hot-deals"].map((workload) => [
            `replicas.${workload}`,
            "0",
        ]),
    );
    stack.set({ ...none, "agent.timeout": "1m", "cluster.name": "e2e-vendor-cluster" });
});
afterEach(() => secrets.lookAround());
afterAll(async () => {
    secrets.end();
    vendor.close();
    await stack.close();
});

async function newKey(): Promise<string> {
    const key = randomBytes(24).toString("hex");
    secrets.add(key);
    await stack.setSecret("agent.key", key);
    return key;
}

async function daemonSet(name: string) {
    return stack.cluster.apps.readNamespacedDaemonSet({ name, namespace: agentNamespace });
}
const environmentOf = async (name: string) =>
    Object.fromEntries(
        (await daemonSet(name)).spec!.template.spec!.containers[0]!.env!.map(({ name: variable, value }) => [
            variable,
            value,
        ]),
    );
const keyInCluster = async () =>
    Buffer.from(
        (await stack.cluster.core.readNamespacedSecret({ name: "agent-key", namespace: agentNamespace })).data!.key!,
        "base64",
    ).toString();

describe("a vendor's agent from a chart", () => {
    it("an unreachable repository is reported with its address", async () => {
        const error = await stack.failingUp({
            "agent.enabled": "true",
            "agent.install": "chart",
            "agent.chart": chartName,
            "agent.repo": "http://127.0.0.1:9",
        });
        expect(error).toMatch(/127\.0\.0\.1:9.*refused/s);
    });

    it("a chart that does not exist is reported with its name", async () => {
        const error = await stack.failingUp({ "agent.repo": vendor.url, "agent.chart": "no-such-agent" });
        expect(error).toMatch(/no-such-agent.*not found/s);
    });

    it("the update names the pod and the reason if the agent does not become ready", async () => {
        const values = vendor.keep("values.yaml", `image: ${noImage}\n`);
        const error = await stack.failingUp({
            "agent.chart": chartName,
            "agent.values": values,
            "agent.timeout": "8s",
        });
        expect(error).toMatch(
            inOrder(
                /the agent is not ready after 8 s: 0 of 1 pods are ready\.\n/,
                / +pod e2e-vendor-agent\/agent-\w+: container agent: /,
                "Image",
            ),
        );
    });

    it("the next update fixes it: a release in its own namespace, with the key and the cluster's name", async () => {
        const key = await newKey();
        vendor.keep("values.yaml", "{}\n");
        const { outputs } = await stack.up({ "agent.timeout": "1m" });
        expect(outputs.agent!.value).toEqual({ install: "chart", namespace: agentNamespace, ready: "1 of 1" });
        secrets.look("outputs", JSON.stringify(outputs));
        expect(await environmentOf("agent")).toMatchObject({
            CLUSTER_NAME: "e2e-vendor-cluster",
            GLOBAL_CLUSTER_NAME: "e2e-vendor-cluster",
        });
        expect(await keyInCluster()).toBe(key);
    });

    it("an update with refresh changes nothing", async () => {
        expect((await stack.refresh()).changes).toEqual([]);
    });

    it("rotating the key updates only the release", async () => {
        const key = await newKey();
        expect((await stack.preview()).map(({ type }) => type)).toEqual(["kubernetes:helm.sh/v3:Release"]);
        await stack.up();
        expect(await keyInCluster()).toBe(key);
    });
});

describe("a vendor's agent from a manifest", () => {
    it("a manifest from a file replaces the chart", async () => {
        const file = vendor.keep("agent.yaml", manifest("small-agent"));
        const { outputs } = await stack.up({ "agent.install": "manifest", "agent.manifest": file });
        expect(outputs.agent!.value).toEqual({ install: "manifest", namespace: agentNamespace, ready: "1 of 1" });
        expect((await environmentOf("small-agent")).CLUSTER_NAME).toBe("e2e-vendor-cluster");
        await expect(daemonSet("agent")).rejects.toThrow(/404/);
    });

    it("an update with refresh changes nothing", async () => {
        expect((await stack.refresh()).changes).toEqual([]);
    });

    it("a manifest with an object of somebody else is rejected, and the object stays as it is", async () => {
        const name = "e2e-vendor-reader";
        const { rbac } = stack.cluster;
        const before = await rbac.createClusterRole({ body: { metadata: { name, labels: { app: "reader" } } } });
        const role = `---\napiVersion: ${rbacVersion}\nkind: ClusterRole\nmetadata: { name: ${name} }\nrules: []\n`;
        const file = vendor.keep("with-role.yaml", manifest("small-agent") + role);
        try {
            expect(await stack.failingUp({ "agent.manifest": file })).toMatch(
                inOrder(
                    "with-role.yaml\", which has objects that exist and are not this stack's",
                    /ClusterRole e2e-vendor-reader: it exists and belongs to no stack \(field managers: \S.*app=reader/,
                    "annotate --overwrite ClusterRole.v1.rbac.authorization.k8s.io e2e-vendor-reader chaos-shop/stack=",
                ),
            );
            const { metadata } = await rbac.readClusterRole({ name });
            expect(metadata!.resourceVersion).toBe(before.metadata!.resourceVersion);
        } finally {
            await rbac.deleteClusterRole({ name });
        }
        // Now it is the stack's, and goes with the agent.
        await stack.up();
        expect((await rbac.readClusterRole({ name })).metadata!.annotations).toHaveProperty("chaos-shop/identity");
        await stack.up({ "agent.manifest": vendor.keep("agent.yaml", manifest("small-agent")) });
        await expect(rbac.readClusterRole({ name })).rejects.toThrow(/404/);
    });

    it("a new key and a manifest from a URL that has a namespace replace the earlier ones", async () => {
        const key = await newKey();
        const url = vendor.publish("/agent.yaml", manifest("other-agent", { namespace: agentNamespace }));
        const { outputs } = await stack.up({ "agent.manifest": url });
        expect(outputs.agent!.value).toMatchObject({ ready: "1 of 1" });
        expect((await environmentOf("other-agent")).AGENT_KEY).toBe(key);
        expect((await stack.cluster.core.readNamespace({ name: agentNamespace })).metadata!.labels).toMatchObject({
            of: "small-agent",
            "chaos-experiments/protected": "true",
        });
    });
});

it("disabling the agent removes it and its namespace", async () => {
    const { outputs } = await stack.up({ "agent.enabled": "false" });
    expect(outputs.agent!.value).toBe("disabled");
    const namespaces = await stack.cluster.core.listNamespace();
    expect(namespaces.items.map(({ metadata }) => metadata!.name)).not.toContain(agentNamespace);
});

it("no key was ever visible, including while the stack was destroyed", async () => {
    await stack.destroy();
    expect(secrets.end()).toEqual({ showed: [], looked: everywhere.filter((place) => place !== "pods' logs") });
});
