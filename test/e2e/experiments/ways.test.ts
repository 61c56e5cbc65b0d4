import * as pulumi from "@pulumi/pulumi";
import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TypedCluster as Cluster } from "../../support/typed-cluster";
import { labels } from "../../../chaos/cluster/labels";
import type { AttackDefinition } from "../../../chaos/definition/definition";
import { Experiment, type ExperimentArgs } from "../../../chaos/face/experiment";
import { tryWithin } from "../../../chaos/proof/try-within";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { journalSchema } from "../../../chaos/report/journal-schema";
import { type Discovered, isReady } from "../../../chaos/targets/containers";
import { containersByApiServer } from "../../../chaos/targets/discover";
import { addresses } from "../../../sandbox/node/addresses";
import { choices } from "../../../sandbox/node/choices";
import { layout } from "../../../sandbox/node/layout";
import { nodePod } from "../../../sandbox/test/e2e/support";
import { cellFor, networkTable } from "../../../sandbox/test/support/network-page";
import { experimentPrograms } from "../../../toolchain/experiment-programs";
import { attackPolicies } from "../../support/attack-policies";
import { until } from "../../support/until";
import { openNamespace } from "../shop/support";

const namespace = "e2e-directions";
const ports = [8080, 8081] as const;
const of = (pod: string) => `k8s.pod.name=${pod}`;

/** Something outside of the cluster: at the first port it is attacked, the second is the control. */
const outside: Server[] = [];
const outsidePort = (index: number) => (outside[index]!.address() as AddressInfo).port;

/** Every kind of NetworkPolicy that an attack can be, each on a pod of that name. */
const attacks = (): Record<string, AttackDefinition> => ({
    everything: { kind: "blackhole", target: of("everything") },
    ingress: { kind: "blackhole", target: of("ingress"), direction: "ingress" },
    egress: { kind: "blackhole", target: of("egress"), direction: "egress" },
    "port-in": { kind: "blackhole", target: of("port-in"), direction: "ingress", ports: [ports[1]] },
    "port-out": { kind: "blackhole", target: of("port-out"), direction: "egress", ports: [ports[1]] },
    peers: { kind: "blackhole", target: of("peers"), peers: of("peer") },
    address: {
        kind: "blackhole",
        target: of("address"),
        peers: { host: addresses.host, port: outsidePort(0) },
        // The default is the API server, which is on a node: some networks do not compare an address with those.
        control: { host: addresses.host, port: outsidePort(1) },
    },
    dns: { kind: "dns", target: of("dns") },
});

let cluster: Cluster;
let folder: string;
let stack: Stack;
let said = "";
let enabled = true;

/** Is ready when the attack has ended, as is an application that needs what is cut off. */
async function application(): Promise<pulumi.Resource> {
    await until("the attack has ended", async () => (await attackPolicies(cluster, namespace)).length === 0);
    return new pulumi.ComponentResource("test:index:Application", "application");
}

const program = async () => {
    const dependsOn = enabled ? [] : application();
    const parent = new pulumi.ComponentResource("test:index:Group", "group", {}, { dependsOn });
    const args: ExperimentArgs = {
        enabled,
        // A login makes the environment of the steps a secret, in which the state has the experiment's identity.
        kubeconfig: readFileSync(layout.kubeconfig, "utf8"),
        hypothesis: "A pod that is not attacked stays ready.",
        namespace,
        attacks: Object.values(attacks()),
        checks: [{ kind: "podsReady", of: of("bystander") }],
        // What becomes of established connections shows within 10 s.
        window: { duration: "12s", grace: "0s" },
        until: "disabled",
        reports: join(folder, "reports"),
        programs: experimentPrograms,
    };
    const experiment = new Experiment("ways", args, { parent });
    return { conclusion: experiment.conclusion };
};

async function up(): Promise<Conclusion> {
    said = "";
    const { outputs } = await stack.up({ onOutput: (text) => (said += text) });
    return outputs.conclusion?.value as Conclusion;
}

beforeAll(async () => {
    const opened = await openNamespace(namespace);
    ({ folder, cluster } = opened);
    for (const index of [0, 1]) {
        outside[index] = createServer((socket) => socket.destroy());
        await new Promise<void>((resolve) => outside[index]!.listen(0, addresses.host, resolve));
    }
    const listening = ports.map((port) => `require("net").createServer().listen(${port});`).join("");
    const container = { ports: ports.map((containerPort) => ({ containerPort })) };
    const names = [...Object.keys(attacks()), "peer", "bystander"];
    for (const name of names) {
        const body = nodePod(name, listening, { terminationGracePeriodSeconds: 0 }, container);
        await cluster.core.createNamespacedPod({ namespace, body });
    }
    const readyPods = async () => (await cluster.core.listNamespacedPod({ namespace })).items.filter(isReady);
    await until("all pods are ready", async () => (await readyPods()).length === names.length);
    stack = await LocalWorkspace.createStack(
        { stackName: "dev", projectName: "ways", program },
        { pulumiCommand: opened.pulumiCommand },
    );
});
afterAll(async () => {
    await stack?.destroy().catch(() => undefined);
    await cluster.core.deleteNamespace({ name: namespace }).catch(() => undefined);
    outside.forEach((server) => server.close());
    rmSync(folder, { recursive: true, force: true });
});

/** Whether the pod can connect to others, and others to it. */
async function connects(pod: string): Promise<{ out: boolean; in: boolean }> {
    const known = (await containersByApiServer(cluster, "sandbox")).filter((one) => one.namespace === namespace);
    const find = (name: string) => known.find((one) => one.pod === name)!;
    const tries = async (from: Discovered, to: Discovered) => {
        const tried = await tryWithin(cluster, from, { connect: { host: to.address, port: ports[0] } }, 1_000);
        return "worked" in tried && tried.worked;
    };
    const [it, other] = [find(pod), find("bystander")];
    return { out: await tries(it, other), in: await tries(other, it) };
}

describe("attacks in each direction, on ports, on peers, on an address and on DNS, in one experiment", () => {
    let conclusion: Conclusion;

    it("are all proven, and nothing else is broken by them: each positive control was tried", async () => {
        conclusion = await up();
        expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
        expect(conclusion.targets).toHaveLength(Object.keys(attacks()).length);
        expect(said).not.toContain("Not part of the proof");
    });

    it("keep to their direction", async () => {
        expect(await connects("everything")).toEqual({ out: false, in: false });
        expect(await connects("ingress")).toEqual({ out: true, in: false });
        expect(await connects("egress")).toEqual({ out: false, in: true });
        for (const pod of ["port-in", "port-out", "peers", "address", "dns"])
            expect(await connects(pod), pod).toEqual({ out: true, in: true });
    });

    it("cut open connections where docs/networks.md says so, and the journal tells", () => {
        const { attacks: kept } = journalSchema.parse(JSON.parse(readFileSync(conclusion.journal, "utf8")));
        const words: Record<string, string> = { cut: "cut", survives: "survived" };
        const became = words[cellFor(networkTable(), "established, then denied by ingress", choices())];
        for (const pod of ["everything", "ingress"])
            expect(
                kept.find(({ targets }) => targets[0]!.pod === pod),
                pod,
            ).toMatchObject({
                established: { direction: "inward", became },
            });
    });

    it("are undone when the experiment is disabled, before what its parent waits for: all connect again", async () => {
        enabled = false;
        await up();
        expect(await attackPolicies(cluster, namespace)).toEqual([]);
        const labeled = await cluster.core.listNamespacedPod({ namespace, labelSelector: labels.target });
        expect(labeled.items).toEqual([]);
        for (const pod of Object.keys(attacks()))
            await until(`${pod} connects`, async () => Object.values(await connects(pod)).every(Boolean));
    });
});
