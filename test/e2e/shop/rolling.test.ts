import { ApiException, PatchStrategy, PolicyV1Api, type V1Deployment, setHeaderOptions } from "@kubernetes/client-node";
import { execFileSync } from "node:child_process";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ignoreNotFound } from "../../support/typed-cluster";
import { casesOf, describeInAll } from "../which-tests";
import { TestStack } from "./support";
import { until } from "../../support/until";

const namespace = "e2e-rolling";
const programs = ["gateway", "fashion-bestseller", "toys-bestseller", "hot-deals"];

let stack: TestStack;
let url: string;
beforeAll(async () => {
    stack = await TestStack.open(namespace);
    const replicas = Object.fromEntries(programs.map((program) => [`replicas.${program}`, "2"]));
    const { outputs } = await stack.up({ ...replicas, "shutdown.delay": "5s", "database.storage": "256Mi" });
    url = outputs.productsUrl!.value as string;
});
afterAll(() => stack.close());

/**
 * Asks `/products` constantly, over fresh and kept connections, while something is done.
 *
 * @returns the answers that were not good
 */
async function underLoad(work: () => Promise<unknown>): Promise<{ asked: number; lost: string[] }> {
    const kept = new Agent({ keepAlive: true, maxSockets: 2 });
    const lost: string[] = [];
    let asked = 0;
    let asking = true;
    const ask = (agent: Agent | false) =>
        new Promise<string | undefined>((resolve) => {
            const outgoing = request(url, { agent, timeout: 10_000 }, (response) => {
                let body = "";
                response.setEncoding("utf8").on("data", (text: string) => (body += text));
                response.on("end", () =>
                    resolve(response.statusCode === 200 ? undefined : `status ${response.statusCode}: ${body}`),
                );
                response.on("error", (error) => resolve(error.message));
            });
            outgoing.on("timeout", () => outgoing.destroy(new Error("no answer within 10 s")));
            outgoing.on("error", (error) => resolve(error.message));
            outgoing.end();
        });
    const client = async (agent: Agent | false) => {
        for (; asking; await sleep(50)) {
            asked++;
            const problem = await ask(agent);
            if (problem !== undefined)
                lost.push(`${new Date().toISOString()} over a ${agent ? "kept" : "fresh"} connection: ${problem}`);
        }
    };
    const clients = [client(false), client(false), client(kept), client(kept)];
    try {
        await work();
    } finally {
        asking = false;
        await Promise.all(clients);
        kept.destroy();
    }
    return { asked, lost };
}

const podsOf = async (workload: string) =>
    (await stack.cluster.core.listNamespacedPod({ namespace, labelSelector: `app=${workload}` })).items;

/**
 * Waits until a workload has two ready pods, both of its newest version, one of which may be evicted: right after an
 * eviction only the budget knows of it.
 */
async function settled(workload: string): Promise<void> {
    const policies = stack.cluster.library.makeApiClient(PolicyV1Api);
    await until(`${workload} is settled`, async () => {
        const { metadata, status } = await stack.cluster.apps.readNamespacedDeployment({ name: workload, namespace });
        const whole =
            status?.observedGeneration === metadata!.generation &&
            status?.updatedReplicas === 2 &&
            status.availableReplicas === 2;
        const budget = await policies.readNamespacedPodDisruptionBudget({ name: workload, namespace });
        return whole && (await podsOf(workload)).length === 2 && budget.status?.disruptionsAllowed === 1;
    });
}

/** What `kubectl rollout restart` does. */
async function restart(name: string): Promise<void> {
    const body = {
        spec: {
            template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": new Date().toISOString() } } },
        },
    } as unknown as V1Deployment;
    await stack.cluster.apps.patchNamespacedDeployment(
        { name, namespace, body },
        setHeaderOptions("Content-Type", PatchStrategy.StrategicMergePatch),
    );
}

/** What `kubectl drain` does to a pod. @returns whether its budget allowed it */
async function evict(name: string): Promise<boolean> {
    try {
        await stack.cluster.core.createNamespacedPodEviction({ name, namespace, body: { metadata: { name } } });
        return true;
    } catch (error) {
        if (error instanceof ApiException && error.code === 429) return false;
        throw error;
    }
}

describe("no request is lost under a constant load", () => {
    it("while an update replaces all pods of the shop's programs", async () => {
        const before = (await podsOf("gateway")).map(({ metadata }) => metadata!.name);
        const { asked, lost } = await underLoad(async () => {
            await stack.up({ "shutdown.delay": "6s" });
            for (const program of programs) await settled(program);
        });
        expect(lost).toEqual([]);
        expect(asked).toBeGreaterThan(50);
        for (const { metadata } of await podsOf("gateway")) expect(before).not.toContain(metadata!.name);
    });

    it.each(casesOf(["gateway"], ["hot-deals"]))(
        "while the pods of %s are restarted, and then evicted one after the other",
        async (workload) => {
            const { asked, lost } = await underLoad(async () => {
                await restart(workload);
                await settled(workload);
                const [first, second] = (await podsOf(workload)).map(({ metadata }) => metadata!.name!);
                expect(await evict(first!)).toBe(true);
                // Its replacement is not ready yet: the budget keeps the other one.
                expect(await evict(second!)).toBe(false);
                await settled(workload);
                expect(await evict(second!)).toBe(true);
                await settled(workload);
            });
            expect(lost).toEqual([]);
            expect(asked).toBeGreaterThan(50);
        },
    );
});

describeInAll("the database's data survives the stack", () => {
    const claimOf = async () =>
        ignoreNotFound(stack.cluster.core.readNamespacedPersistentVolumeClaim({ name: "database-data", namespace }));
    let kept: string;

    it("destroying the stack keeps the claim, but no workload", async () => {
        kept = (await claimOf())!.metadata!.uid!;
        await stack.destroy();
        expect((await claimOf())!.metadata!.uid).toBe(kept);
        expect((await stack.cluster.apps.listNamespacedDeployment({ namespace })).items).toEqual([]);
        await stack.close();
    });

    it("the next stack with this name uses the claim again, with its data, if it is told to", async () => {
        stack = await TestStack.openAnother(namespace);
        const refused = await stack.failingUp({ "database.storage": "256Mi" });
        const [, command] = /may take over what it has kept, claims with their data: (kubectl .*)/.exec(refused)!;
        execFileSync("sh", ["-c", command!]);
        await stack.up();
        expect((await claimOf())!.metadata!.uid).toBe(kept);
        const [pod] = await podsOf("database");
        expect(await stack.cluster.core.readNamespacedPodLog({ name: pod!.metadata!.name!, namespace })).not.toContain(
            "makes a new database",
        );
        expect((await stack.products()).good).toBe(true);
    });

    it("destroying the stack deletes the claim too if storage.keep is false", async () => {
        await stack.up({ "storage.keep": "false" });
        await stack.destroy();
        expect(await claimOf()).toBeUndefined();
        expect(await stack.exists()).toBe(false);
    });
});
