import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeNamespaces } from "../../../bench/on-cluster";
import type { TypedCluster as Cluster } from "../../support/typed-cluster";
import { Experiment } from "../../../chaos/face/experiment";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { isReady } from "../../../chaos/targets/containers";
import { choices } from "../../../sandbox/node/choices";
import { nodePod, runInPod } from "../../../sandbox/test/e2e/support";
import { experimentPrograms } from "../../../toolchain/experiment-programs";
import { attackPolicies } from "../../support/attack-policies";
import { until } from "../../support/until";
import { openNamespace } from "../shop/support";

const namespace = "e2e-again";
/** As people have it: pods of the namespace only. Without a line for experiments, so a run adds one for its time. */
const within = {
    metadata: { name: "within" },
    spec: { podSelector: {}, policyTypes: ["Ingress"], ingress: [{ _from: [{ podSelector: {} }] }] },
};
/** In which a network may still know the labels of the earlier target, in milliseconds. */
const knownMs = choices().network === "cilium" ? 45_000 : 10_000;
const serving = "require('http').createServer((_, answer) => answer.end()).listen(8080);";

/** Asks a pod for a while, over new connections. Prints how many of them failed, and how many were tried. */
const asking = (address: string, lastsMs: number) => `
    const { get } = require("http");
    let [tried, failed] = [0, 0];
    const ask = () => new Promise((resolve) => {
        tried++;
        const asked = get({ host: "${address}", port: 8080, agent: false, timeout: 3_000 }, (answer) => {
            answer.resume().on("end", resolve);
        });
        asked.on("timeout", () => asked.destroy(new Error("no answer"))).on("error", () => resolve(failed++));
    });
    (async () => {
        for (const end = Date.now() + ${lastsMs}; Date.now() < end; ) {
            await ask();
            await new Promise((go) => setTimeout(go, 50));
        }
        console.log(failed, tried);
    })();`;

describe.each([
    ["without other policies", []],
    ["with a policy that allows its pods", [within]],
])("an experiment that runs again with another target, in a namespace %s", (_, policies) => {
    let cluster: Cluster;
    let folder: string;
    let stack: Stack;
    let target: string;

    const program = async () => {
        const experiment = new Experiment("again", {
            enabled: true,
            context: cluster.kubeconfig.getCurrentContext(),
            hypothesis: "Others go on.",
            namespace,
            attacks: [{ kind: "blackhole", target: `k8s.pod.name=${target}` }],
            checks: [{ kind: "podsReady", of: "k8s.pod.name=client" }],
            window: { duration: "3s", grace: "0s" },
            until: "disabled",
            reports: join(folder, "reports"),
            programs: experimentPrograms,
        });
        return { conclusion: experiment.conclusion };
    };
    const verdict = async () => ((await stack.up()).outputs.conclusion!.value as Conclusion).verdict;

    beforeAll(async () => {
        target = "a";
        const opened = await openNamespace(namespace);
        ({ folder, cluster } = opened);
        const ports = [{ containerPort: 8080 }];
        for (const name of ["a", "b", "client"]) {
            const body = nodePod(name, serving, { terminationGracePeriodSeconds: 0 }, { ports });
            await cluster.core.createNamespacedPod({ namespace, body });
        }
        const readyPods = async () => (await cluster.core.listNamespacedPod({ namespace })).items.filter(isReady);
        await until("all pods are ready", async () => (await readyPods()).length === 3);
        for (const body of policies) await cluster.networking.createNamespacedNetworkPolicy({ namespace, body });
        stack = await LocalWorkspace.createStack(
            { stackName: "dev", projectName: "again", program },
            { pulumiCommand: opened.pulumiCommand },
        );
    });
    afterAll(async () => {
        await stack?.destroy().catch(() => undefined);
        await removeNamespaces(cluster, [namespace]);
        rmSync(folder, { recursive: true, force: true });
    });

    // A network may notice only half a minute later that the earlier target has lost its labels.
    it("leaves the earlier one alone from the moment at which that is released", async () => {
        expect(await verdict()).toBe("PASSED");
        const { status } = await cluster.core.readNamespacedPod({ namespace, name: "a" });
        const [attack] = await attackPolicies(cluster, namespace);
        expect(attack).toBeDefined();
        target = "b";
        const again = verdict();
        const isReleased = async () => {
            const found = await attackPolicies(cluster, namespace);
            return found.every(({ metadata }) => metadata!.name !== attack!.metadata!.name);
        };
        await until("the first attack is undone", isReleased, { timeoutMs: 60_000, pauseMs: 50 });
        // The network may need a moment for that.
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        const asked = await runInPod(namespace, "client", asking(status!.podIP!, knownMs));
        expect(await again).toBe("PASSED");
        expect(asked).toMatch(/^0 \d{2,}$/);
    });
});
