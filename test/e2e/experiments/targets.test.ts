import * as pulumi from "@pulumi/pulumi";
import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { type V1Container, type V1EndpointSlice, type V1PodSpec } from "@kubernetes/client-node";
import { readFileSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TypedCluster as Cluster } from "../../support/typed-cluster";
import { labels } from "../../../chaos/cluster/labels";
import type { AttackDefinition } from "../../../chaos/definition/definition";
import { ExecRefused, runWithin } from "../../../chaos/cluster/run-within";
import { isReady } from "../../../chaos/targets/containers";
import { Experiment } from "../../../chaos/face/experiment";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { addresses } from "../../../sandbox/node/addresses";
import { experimentPrograms } from "../../../toolchain/experiment-programs";
import { forbidExec } from "../../support/forbid-exec";
import { inOrder } from "../../support/in-order";
import { until } from "../../support/until";
import { openNamespace } from "../shop/support";
import { itInAll } from "../which-tests";

const namespace = "e2e-targets";
/** Its image has a shell and tools. */
const nats = { name: "nats", image: "docker.io/library/nats:2.9.10", ports: [{ containerPort: 4222 }] };
/** One port by two names, and one that it does not listen at. */
const declared = [
    { name: "client", containerPort: 4222 },
    { name: "again", containerPort: 4222 },
    { name: "cluster", containerPort: 6222 },
];
/** Its image has one program and nothing else. */
const coredns = {
    name: "coredns",
    image: "registry.k8s.io/coredns/coredns:v1.14.1",
    args: ["-dns.port=1053"],
    ports: [{ containerPort: 1053 }],
};

/** Answers every query with the scalar 1. */
const prometheus = createHttpServer((_, response) =>
    response.end(JSON.stringify({ status: "success", data: { resultType: "scalar", result: [1, "1"] } })),
);

let cluster: Cluster;
let folder: string;
let stack: Stack;
let destroyed = false;
let said = "";
/** What the next update runs. */
let attacks: AttackDefinition[] = [];
let enabled = true;
/** Whether what the experiment is a part of is protected, and retained. */
let isKept = true;

const spec = (containers: V1Container[], more: Partial<V1PodSpec> = {}) => ({
    terminationGracePeriodSeconds: 0,
    containers,
    ...more,
});
const template = (name: string, more?: Partial<V1PodSpec>) => ({
    metadata: { labels: { app: name } },
    spec: spec([nats], more),
});

/** Workloads of all kinds: each of one pod. */
async function createWorkloads(): Promise<void> {
    const selector = { matchLabels: { app: "everywhere" } };
    const daemonSet = { metadata: { name: "everywhere" }, spec: { selector, template: template("everywhere") } };
    const pods: [string, V1PodSpec][] = [
        ["alone", spec([{ ...nats, ports: declared }])],
        ["pair", spec([coredns, nats])],
        ["escorted", spec([coredns], { initContainers: [{ ...nats, restartPolicy: "Always" }] })],
        ["toolless", spec([coredns])],
    ];
    await cluster.apps.createNamespacedDaemonSet({ namespace, body: daemonSet });
    for (const name of ["once", "retried"]) {
        const job = { metadata: { name }, spec: { template: template(name, { restartPolicy: "Never" }) } };
        await cluster.batch.createNamespacedJob({ namespace, body: job });
    }
    for (const [name, pod] of pods)
        await cluster.core.createNamespacedPod({ namespace, body: { metadata: { name }, spec: pod } });
    await until("all pods are ready", async () => (await readyPods()) === pods.length + 3);
}

async function readyPods(): Promise<number> {
    const { items } = await cluster.core.listNamespacedPod({ namespace });
    return items.filter(isReady).length;
}

async function traces(): Promise<number> {
    const { items: policies } = await cluster.networking.listNamespacedNetworkPolicy({ namespace });
    const { items: pods } = await cluster.core.listNamespacedPod({ namespace, labelSelector: labels.target });
    return policies.length + pods.length;
}

const program = async () => {
    const parent = new pulumi.ComponentResource("test:Parent", "kept", {}, { protect: isKept, retainOnDelete: isKept });
    const experiment = new Experiment(
        "every-kind",
        {
            enabled,
            context: cluster.kubeconfig.getCurrentContext(),
            hypothesis: "The pods stay ready.",
            namespace,
            attacks,
            checks: [
                { kind: "podsReady", of: "k8s.pod.name=toolless" },
                { kind: "condition", of: { apiVersion: "v1", kind: "Pod", name: "toolless" }, type: "Ready" },
                { kind: "command", command: ["true"] },
                {
                    kind: "prometheus",
                    url: `http://127.0.0.1:${(prometheus.address() as AddressInfo).port}`,
                    query: "1",
                    equals: 1,
                },
            ],
            window: { duration: "2s", grace: "0s" },
            interval: "250ms",
            reports: join(folder, "reports"),
            programs: experimentPrograms,
        },
        { parent },
    );
    return { conclusion: experiment.conclusion };
};

const blackhole = (target: string): AttackDefinition => ({ kind: "blackhole", target });

/** @throws Error if the update fails */
async function up(...wanted: AttackDefinition[]): Promise<Conclusion> {
    attacks = wanted;
    said = "";
    const { outputs } = await stack.up({ onOutput: (text) => (said += text) });
    return outputs.conclusion?.value as Conclusion;
}

beforeAll(async () => {
    const opened = await openNamespace(namespace);
    ({ folder, cluster } = opened);
    prometheus.listen(0, "127.0.0.1");
    [stack] = await Promise.all([
        LocalWorkspace.createStack({ stackName: "dev", projectName: "targets", program }, opened),
        createWorkloads(),
    ]);
});
afterAll(async () => {
    if (!destroyed) await stack?.destroy().catch(() => undefined);
    await cluster.core.deleteNamespace({ name: namespace }).catch(() => undefined);
    prometheus.close();
    rmSync(folder, { recursive: true, force: true });
});

/** As kubectl exec meets it in clusters that forbid it: by an admission policy, and not for a missing right. */
async function whileExecIsForbidden(act: () => Promise<void>): Promise<void> {
    const named = { name: `${namespace}-no-exec`, message: "nobody runs anything here" };
    const { allow } = await forbidExec(cluster, namespace, named);
    try {
        const place = { namespace, pod: "alone", container: "nats" };
        const refused = () =>
            runWithin(cluster, place, ["true"]).then(
                () => false,
                (error) => error instanceof ExecRefused,
            );
        await until("nothing may be run in a pod", refused);
        await act();
    } finally {
        await allow();
    }
}

describe("before anything is attacked, an update is refused that", () => {
    it("could not prove an attack, since nothing may be run in a pod: with the words of who refuses it", async () => {
        await whileExecIsForbidden(async () => {
            await expect(up(blackhole("k8s.pod.name=alone"))).rejects.toThrow(
                inOrder(
                    "ABORTED (exec-refused): ",
                    "nothing may be run in alone: ",
                    "nobody runs anything here",
                    "Nothing was attacked",
                    'outward: "unproven"',
                ),
            );
        });
        expect(await traces()).toBe(0);
    });

    it("has no room for the pod of its Job, in the words of the quota", async () => {
        const quota = { metadata: { name: "few" }, spec: { hard: { pods: "1" } } };
        await cluster.core.createNamespacedResourceQuota({ namespace, body: quota });
        try {
            // Another definition than above: of the same, the lease says that it was ABORTED.
            await expect(up(blackhole("k8s.daemonset=everywhere"))).rejects.toThrow(
                inOrder(
                    `ABORTED (no-room): namespace ${namespace} admits no pod of the Job every-kind-`,
                    "exceeded quota: few, requested: pods=1",
                    "Nothing was attacked",
                ),
            );
        } finally {
            await cluster.core.deleteNamespacedResourceQuota({ name: "few", namespace });
        }
        const ofExperiment = { namespace, labelSelector: labels.experiment };
        expect((await cluster.batch.listNamespacedJob(ofExperiment)).items).toEqual([]);
        expect(await traces()).toBe(0);
    });
});

it("pods of every kind are attacked, and the attacks proven with what their pods have", async () => {
    const conclusion = await up(
        blackhole("k8s.daemonset=everywhere"),
        blackhole("k8s.job=once"),
        blackhole("k8s.pod.name=alone"),
        blackhole("k8s.pod.name=pair,k8s.container.name=coredns"),
        blackhole("k8s.pod.name=escorted"),
        { ...blackhole("k8s.pod.name=toolless"), outward: "unproven" },
        { kind: "kill", target: "k8s.job=retried", intervalMs: 60_000 },
    );
    expect(conclusion.reason).toMatch(/^100% of .* Outward was not proven: nothing could be tried in toolless\./);
    expect(conclusion).toMatchObject({
        verdict: "PASSED",
        outwardUnproven: [{ attack: "blackhole-6", pods: ["toolless"] }],
    });
    expect(conclusion.targets.map((target) => target.replace(/^e2e-targets\/|-\w{5}(?=\/)/g, ""))).toEqual([
        "everywhere/nats",
        "once/nats",
        "alone/nats",
        "pair/coredns",
        "escorted/coredns",
        "toolless/coredns",
        "retried/nats",
    ]);
    expect(said).toContain("in the same pods, and hit with them: pair/nats");
    expect(said).toMatch(/Not part of the proof, .*: connections to [\d.]+:6222$/m);
    // The Job begins another pod after 10 s, then after 20 s, and so on up to its limit.
    await until("the deleted pod counts as a failure of its Job", async () => {
        const { status } = await cluster.batch.readNamespacedJob({ namespace, name: "retried" });
        return status?.failed === 1;
    });
});

describe("a host outside of the cluster", () => {
    const name = "third-party";
    const host = `${name}.${namespace}.svc`;
    let server: Server;
    let port: number;
    /** By the name of a Service without pods: the machine that the sandbox is on. */
    const slice = (): V1EndpointSlice => ({
        metadata: { name, labels: { "kubernetes.io/service-name": name } },
        addressType: "IPv4",
        endpoints: [{ addresses: [addresses.host], conditions: { ready: true } }],
        ports: [{ name: "third", port }],
    });
    const attack = (more: object = {}): AttackDefinition => ({
        kind: "blackhole",
        target: "k8s.pod.name=alone",
        peers: { host, port },
        ...more,
    });

    beforeAll(async () => {
        server = createServer((socket) => socket.destroy());
        await new Promise<void>((resolve) => server.listen(0, addresses.host, resolve));
        port = (server.address() as AddressInfo).port;
        const spec = { clusterIP: "None", ports: [{ name: "third", port }] };
        await cluster.core.createNamespacedService({ namespace, body: { metadata: { name }, spec } });
        await cluster.discovery.createNamespacedEndpointSlice({ namespace, body: slice() });
    });
    afterAll(async () => {
        server.close();
        await cluster.core.deleteNamespacedService({ namespace, name });
        await cluster.discovery.deleteNamespacedEndpointSlice({ namespace, name });
    });

    it("is cut off by the address that it has in the target, and nothing else is", async () => {
        const conclusion = await up(attack());
        expect(conclusion).toMatchObject({ verdict: "PASSED" });
        expect(said).toContain(`${host} is ${addresses.host} in the targets`);
        expect(said).not.toContain("Not part of the proof");
        expect(said).toContain("Established connections (outward): unknown");
        const { attacks: kept } = JSON.parse(readFileSync(conclusion.journal, "utf8"));
        expect(kept[0].hosts).toEqual([{ host, port, addresses: [addresses.host] }]);
    });

    itInAll("proves a block that it is in, and another host may be the control", async () => {
        const peers = [{ cidr: `${addresses.host}/32` }, { host, port }];
        const control = { host: addresses.node, port: addresses.apiPort };
        expect(await up(attack({ peers, control }))).toMatchObject({ verdict: "PASSED" });
        expect(said).not.toMatch(/Not part of the proof|No address outside/);
    });
});

it("and nothing of that is left when it is disabled, also if what is above it is protected, and retained", async () => {
    enabled = false;
    await up();
    expect(await traces()).toBe(0);
});

it("nor when the stack is gone", async () => {
    isKept = false;
    await up();
    await stack.destroy();
    destroyed = true;
    expect(await traces()).toBe(0);
});
