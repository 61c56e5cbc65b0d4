import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scale } from "../../../cli/shop";
import type { Conclusion } from "../../../experiments/journal";
import { startEnforcer, stopEnforcer } from "../../../sandbox/node/enforcer";
import { quick, TestStack, until } from "./support";

let stack: TestStack;
beforeAll(async () => {
    stack = await TestStack.open("e2e-refusals");
});
afterAll(() => stack.close());

describe("a cluster that must not or cannot be touched is refused in a sentence, before anything is made", () => {
    const folder = mkdtempSync(join(tmpdir(), "chaos-shop-kubeconfig-"));
    let usual: string | undefined;
    beforeAll(() => void (usual = process.env.KUBECONFIG));
    afterAll(() => {
        process.env.KUBECONFIG = usual;
        rmSync(folder, { recursive: true, force: true });
    });

    /** Makes a kubeconfig with one context the current one. */
    function pointTo(context: string, server: string): void {
        process.env.KUBECONFIG = join(folder, "config");
        const config = {
            apiVersion: "v1",
            kind: "Config",
            clusters: [{ name: "c", cluster: { server } }],
            users: [{ name: "u", user: {} }],
            contexts: [{ name: context, context: { cluster: "c", user: "u" } }],
            "current-context": context,
        };
        writeFileSync(process.env.KUBECONFIG, JSON.stringify(config));
    }

    it("a context that is not plainly local and not named", async () => {
        pointTo("arn:aws:eks:eu-central-1:123456789012:cluster/production", "https://127.0.0.1:1");
        const error = await stack.failingUp();
        expect(error).toMatch(
            /current context "arn:aws:eks[^"]+".*not plainly a local cluster.*Nothing was touched.*pulumi config set kube\.context/s,
        );
    });

    it("a cluster that does not answer", async () => {
        pointTo("kind-asleep", "https://127.0.0.1:1");
        expect(await stack.failingUp()).toMatch(
            /the cluster of context "kind-asleep" at https:\/\/127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED.*start kind/s,
        );
    });

    it("a named context that is not there", async () => {
        pointTo("kind-asleep", "https://127.0.0.1:1");
        expect(await stack.failingUp({ "kube.context": "elsewhere" })).toMatch(
            /kube\.context is "elsewhere".*allowed: kind-asleep/s,
        );
        process.env.KUBECONFIG = usual;
        await stack.up({ "kube.context": "chaos-shop-sandbox" });
    });
});

describe("what the cluster has, and what it has not, is found out before anything is touched", () => {
    beforeAll(() => stack.up());

    /** The error of another stack's update, and that it made nothing. */
    async function refused(settings: Record<string, string>): Promise<string> {
        const other = await stack.beside("e2e-refusals-other");
        try {
            const error = await other.failingUp(settings);
            const { resources = [] } = JSON.parse(await other.state()).deployment as { resources?: { type: string }[] };
            expect(resources.filter(({ type }) => type.startsWith("kubernetes:"))).toEqual([]);
            expect(await other.exists()).toBe(false);
            return error;
        } finally {
            await other.close();
        }
    }

    it("a namespace that another stack has", async () => {
        const before = await stack.cluster.core.readNamespace({ name: stack.namespace });
        expect(await refused({ namespace: stack.namespace })).toMatch(
            /namespace is "e2e-refusals", which stack "e2e-refusals" has.*Nothing was touched.*pulumi config set namespace e2e-refusals-e2e-refusals-other.*If that stack is no more: kubectl/s,
        );
        expect((await stack.cluster.core.readNamespace({ name: stack.namespace })).metadata!.resourceVersion).toBe(
            before.metadata!.resourceVersion,
        );
    });

    it("one that it has for its agent", async () => {
        await stack.cluster.core.createNamespace({
            body: { metadata: { name: "e2e-refusals-agent", annotations: { "chaos-shop/stack": "e2e-refusals" } } },
        });
        try {
            const other = await stack.beside("e2e-refusals-other");
            await other.setSecret("agent.key", randomBytes(24).toString("hex"));
            expect(await other.failingUp({ "agent.enabled": "true", "agent.namespace": "e2e-refusals-agent" })).toMatch(
                /agent\.namespace is "e2e-refusals-agent", which stack "e2e-refusals" has/,
            );
            await other.close();
        } finally {
            await stack.cluster.core.deleteNamespace({ name: "e2e-refusals-agent" });
        }
    });

    it("one that somebody has made by hand", async () => {
        expect(await refused({ namespace: "default" })).toMatch(
            /namespace is "default", which is there already, and no stack made it.*pulumi config set namespace default-e2e-refusals-other/s,
        );
    });

    it("a storage class that is not there", async () => {
        expect(await refused({ "database.storage": "1Gi", "storage.class": "fast" })).toMatch(
            /storage\.class is "fast", which the cluster does not have; allowed: sandbox-local.*pulumi config set storage\.class sandbox-local/s,
        );
    });
});

it("mistakes in the configuration are told all at once, and nothing is touched", async () => {
    const before = await stack.state();
    const error = await stack.failingUp({ "replicas.hot-deals": "many", "experiment.radius": "0" });
    expect(error).toMatch(
        /has 2 mistakes.*replicas\.hot-deals is "many".*experiment\.radius is "0".*pulumi config set experiment\.radius 1/s,
    );
    expect(JSON.parse(await stack.state()).deployment.resources.length).toBe(
        JSON.parse(before).deployment.resources.length,
    );
    await stack.up({ "replicas.hot-deals": "1", "experiment.radius": "1" });
});

it("a gateway without an external address holds nothing up: /products is asked through the API server", async () => {
    const begun = Date.now();
    const { outputs } = await stack.up({ "gateway.serviceType": "ClusterIP" });
    expect(Date.now() - begun).toBeLessThan(30_000);
    expect(outputs.productsUrl).toBeUndefined();
    expect(outputs.gateway!.value).toContain("port-forward service/gateway 8080:80");
    await stack.up({ ...quick, "experiment.enabled": "true" });
    expect(stack.said).toContain("Asking /products by way of the API server");
    const { outputs: after } = await stack.up({ "experiment.enabled": "false", "gateway.serviceType": "LoadBalancer" });
    expect(after.experiment!.value).toBe("disabled");
});

describe("an experiment that cannot give an answer attacks nothing, or says that nothing is known", () => {
    it("a shop that is not healthy: ABORTED, and no pod is touched", async () => {
        await scale(stack.cluster, stack.namespace, "hot-deals", 0);
        const error = await stack.failingUp({ "experiment.enabled": "true", "experiment.timeout": "3s" });
        expect(error).toMatch(
            /ABORTED: there is no steady state to disturb: \/products status 50\d: .*hot-deals.*Nothing was attacked/s,
        );
        expect(await stack.traces()).toEqual([]);
        await scale(stack.cluster, stack.namespace, "hot-deals", 1);
        await until("the shop is whole", async () => (await stack.products()).good);
        await stack.up({ "experiment.enabled": "false" });
    });

    it("a target that matches nothing: an error that lists what there is", async () => {
        const error = await stack.failingUp({
            "experiment.enabled": "true",
            "experiment.target": "k8s.deployment=hot-deal",
        });
        expect(error).toMatch(
            /no running container matches k8s\.deployment=hot-deal,k8s\.namespace=e2e-refusals.*k8s\.deployment=hot-deals,k8s\.namespace=e2e-refusals {2}\(1 container\)/s,
        );
        expect(await stack.traces()).toEqual([]);
        await stack.up({ "experiment.enabled": "false", "experiment.target": "k8s.deployment=hot-deals" });
        expect((await stack.products()).good).toBe(true);
    });

    it("a cluster that ignores NetworkPolicies: INCONCLUSIVE, with the reason and the remedy", async () => {
        await stopEnforcer();
        try {
            const { outputs } = await stack.up({ "experiment.enabled": "true" });
            expect(outputs.experiment!.value as Conclusion).toMatchObject({
                verdict: "INCONCLUSIVE",
                requests: 0,
                reason: expect.stringMatching(/does not enforce NetworkPolicies.*--cni=calico/),
            });
        } finally {
            await startEnforcer();
            await stack.up({ "experiment.enabled": "false" });
        }
        expect(await stack.traces()).toEqual([]);
    });

    it("a target that is deleted in the middle of the run: INCONCLUSIVE", async () => {
        const run = stack.up({ "experiment.enabled": "true", "experiment.duration": "8s" });
        let target: string | undefined;
        await until("the attack has begun", async () => {
            const { items } = await stack.cluster.core.listNamespacedPod({
                namespace: stack.namespace,
                labelSelector: "chaos-shop/target",
            });
            const policies = await stack.cluster.networking.listNamespacedNetworkPolicy({ namespace: stack.namespace });
            target = items[0]?.metadata?.name;
            return policies.items.length > 0 && stack.said.includes("Proven");
        });
        await stack.cluster.core.deleteNamespacedPod({ name: target!, namespace: stack.namespace });
        const { outputs } = await run;
        expect(outputs.experiment!.value as Conclusion).toMatchObject({
            verdict: "INCONCLUSIVE",
            reason: expect.stringContaining(target!),
        });
        await stack.up({ "experiment.enabled": "false" });
        expect(await stack.traces()).toEqual([]);
    });
});
