import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Experiment } from "../../../chaos/face/experiment";
import type { Check } from "../../../chaos/index";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { journalSchema } from "../../../chaos/report/journal-schema";
import { isReady } from "../../../chaos/targets/containers";
import { apply } from "../../../sandbox/test/e2e/support";
import { experimentPrograms } from "../../../toolchain/experiment-programs";
import { grpcDeployment, grpcProber, grpcProgram, grpcService } from "../../support/grpc-health-server";
import type { TypedCluster as Cluster } from "../../support/typed-cluster";
import { until } from "../../support/until";
import { openNamespace } from "../shop/support";
import { itInAll } from "../which-tests";

const namespace = "e2e-grpc-health";

let cluster: Cluster;
let folder: string;
let stack: Stack;
let target: string;
let checks: Check[];
let enabled = true;
let run = 0;
let said = "";

const program = async () => {
    const experiment = new Experiment("health", {
        enabled,
        context: cluster.kubeconfig.getCurrentContext(),
        hypothesis: "orders serves.",
        namespace,
        attacks: [{ kind: "blackhole", target: `k8s.deployment=${target}` }],
        checks,
        window: { duration: "5s", grace: "1s" },
        ...(checks[0]!.latency && { baseline: { duration: "5s" } }),
        interval: "100ms",
        timeout: "1s",
        run: String(run),
        until: "verdict",
        reports: join(folder, "reports"),
        programs: experimentPrograms,
    });
    return { conclusion: experiment.conclusion };
};

/** Cuts off the only replica of a Deployment. @returns what is concluded, and the journal */
async function cutOff(deployment: string, ...asked: Check[]) {
    [target, checks, enabled, said] = [deployment, asked, true, ""];
    run++;
    const { outputs } = await stack.up({ onOutput: (text) => (said += text) });
    const conclusion = outputs.conclusion!.value as Conclusion;
    return { conclusion, journal: journalSchema.parse(JSON.parse(readFileSync(conclusion.journal, "utf8"))) };
}

const serving: Check = { kind: "grpc", service: "orders", port: 9090 };

beforeAll(async () => {
    const opened = await openNamespace(namespace);
    ({ folder, cluster } = opened);
    await cluster.core.createNamespacedConfigMap({ namespace, body: await grpcProgram() });
    for (const body of [grpcDeployment("orders", "inventory:9090"), grpcDeployment("inventory")])
        await cluster.apps.createNamespacedDeployment({ namespace, body });
    for (const body of [
        grpcService("orders", "orders", "LoadBalancer"),
        grpcService("orders-at-node", "orders", "NodePort"),
        grpcService("orders-inside", "orders", "ClusterIP"),
        grpcService("inventory", "inventory", "ClusterIP"),
    ])
        await cluster.core.createNamespacedService({ namespace, body });
    const readyPods = async () => (await cluster.core.listNamespacedPod({ namespace })).items.filter(isReady);
    await until("all pods are ready", async () => (await readyPods()).length === 2);
    stack = await LocalWorkspace.createStack(
        { stackName: "dev", projectName: "grpc-health", program },
        { pulumiCommand: opened.pulumiCommand },
    );
});
afterAll(async () => {
    await stack?.destroy().catch(() => undefined);
    await cluster.core.deleteNamespace({ name: namespace }).catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
});

it("a server that does not need what is cut off serves: PASSED, with its bound and compared with before", async () => {
    const { conclusion, journal } = await cutOff(
        "inventory",
        { ...serving, confidence: { atLeast: "90%" }, latency: { p50: { atMost: "+500ms" } } },
        { kind: "grpc", service: "orders-at-node", name: "at a node" },
    );
    expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
    expect(conclusion.reason).toMatch(
        /100% of \d+ requests for gRPC health of orders were answered SERVING .*95% confidence: at least 9\d/,
    );
    expect(said).toMatch(/Asking grpc\+http:\/\/e2e-grpc-health\/orders:9090 at http:\/\/[\d.]+:9090/);
    expect(said).toMatch(/Asking grpc\+http:\/\/e2e-grpc-health\/orders-at-node at http:\/\/[\d.]+:3\d{4}/);
    const [asked] = journal.checks;
    expect(asked!.answers.every(({ status }) => status === 200)).toBe(true);
    expect(journal.baseline).toHaveLength(1);
});

it("the only replica is cut off: FAILED, since no request is answered", async () => {
    const { conclusion, journal } = await cutOff("orders", serving);
    expect(conclusion.verdict, conclusion.reason).toBe("FAILED");
    expect(conclusion.reason).toMatch(/0% of \d+ requests for gRPC health of orders were answered SERVING/);
    const problems = journal.checks[0]!.answers.map(({ problem }) => problem);
    expect(problems).toContain("no answer within 1000 ms");
});

it("what a service needs is cut off: FAILED, since it says NOT_SERVING", async () => {
    const { conclusion, journal } = await cutOff("inventory", { ...serving, healthService: "shop.Orders" });
    expect(conclusion.verdict, conclusion.reason).toBe("FAILED");
    const problems = new Set(journal.checks[0]!.answers.map(({ problem }) => problem));
    expect(problems).toContain("NOT_SERVING");
});

const refused = async (check: Check) => {
    await expect(cutOff("orders", check)).rejects.toThrow(/ABORTED/);
    const policies = await cluster.networking.listNamespacedNetworkPolicy({ namespace });
    expect(policies.items).toEqual([]);
    return said;
};

it("no way leads to a Service from here: nobody is attacked, and it is said what to do", async () => {
    expect(await refused({ kind: "grpc", service: "orders-inside" })).toMatch(
        /no external address of Service e2e-grpc-health\/orders-inside is known, .* carry gRPC\. Give it one/,
    );
});

itInAll("a pod of the cluster reaches that Service at its address there", async () => {
    await apply(namespace, ...(await grpcProber("orders-inside")));
    const log = () => cluster.core.readNamespacedPodLog({ name: "prober", namespace }).catch(() => "");
    await until("the pod has asked", async () => (await log()).includes("}"), { timeoutMs: 60_000 });
    const { spec } = await cluster.core.readNamespacedService({ name: "orders-inside", namespace });
    expect(JSON.parse(await log())).toMatchObject({
        good: true,
        routes: { "grpc+http://e2e-grpc-health/orders-inside": { url: `http://${spec!.clusterIP}:9090` } },
    });
});

itInAll("the server knows no such service: nobody is attacked, and it is named", async () => {
    expect(await refused({ ...serving, healthService: "shop.Gone" })).toMatch(/NOT_FOUND \(5\).*shop\.Gone/);
});
