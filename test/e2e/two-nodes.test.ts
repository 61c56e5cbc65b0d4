import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ignoreNotFound } from "../support/typed-cluster";
import { hasEnded } from "../../chaos/values/kubernetes-rules";
import { restrictedContainer, restrictedPod, users } from "../../chaos/pods/pod-security";
import { askAgents, findAgents } from "../../chaos/targets/agents";
import { jobPodOf } from "../trials/troubles/objects";
import type { Conclusion } from "../../chaos/report/conclusion";
import { choices } from "../../sandbox/node/choices";
import { kubectl, nodeImage } from "../../sandbox/test/e2e/support";
import { killSecondNode, restoreSecondNode } from "../../sandbox/test/support/nodes";
import {
    drain,
    firstNodeName,
    livingPods,
    moveHotDeals,
    moveTo,
    secondNodeName,
    uncordon,
    uncordonAll,
} from "../support/placement";
import { paste, settingsToShow } from "../support/advice";
import { until } from "../support/until";
import { quick, TestStack } from "./shop/support";

const namespace = "e2e-two-nodes";
const hotDeals = { namespace, labelSelector: "app=hot-deals" };
const rolledOut = () =>
    kubectl(["--namespace", namespace, "rollout", "status", "deployment", "hot-deals", "--timeout=60s"]);
const enabled = { ...quick, "experiment.enabled": "true" };

describe.skipIf(choices().nodes < 2)("a shop on two nodes (needs: npm run sandbox -- up --nodes 2)", () => {
    let stack: TestStack;
    beforeAll(async () => {
        await uncordonAll();
        stack = await TestStack.open(namespace);
        await stack.up({ "replicas.hot-deals": "3" });
        await stack.untilWhole();
    });
    afterAll(async () => {
        await uncordonAll();
        await stack?.close();
    });

    const nodesOf = async (of = hotDeals) =>
        new Set((await livingPods(stack.cluster, of)).map(({ spec }) => spec!.nodeName));
    const nodeOfTarget = async ({ targets }: Conclusion) => {
        const [, name] = targets[0]!.split("/");
        return (await stack.cluster.core.readNamespacedPod({ namespace, name: name! })).spec!.nodeName;
    };
    const run = (settings: Record<string, string>) => stack.run(settings);
    const undo = async () => {
        await stack.up({ "experiment.enabled": "false" });
        expect(await stack.traces()).toEqual([]);
        await stack.untilWhole();
    };
    /** The only replica of hot-deals runs on the second node; all else does on the first, and what comes later. */
    const withTargetOnSecondNode = async (test: () => Promise<void>) => {
        await stack.up({ "replicas.hot-deals": "1" });
        await moveHotDeals(stack);
        try {
            await test();
        } finally {
            await uncordon(secondNodeName);
        }
    };

    it("spreads the replicas of a department over both", async () =>
        expect(await nodesOf()).toEqual(new Set([firstNodeName, secondNodeName])));

    it("PASSED if one replica is cut off that is not on the API server's node", async () => {
        const target = "k8s.zone=zone-b,k8s.deployment=hot-deals";
        const conclusion = await run({ ...enabled, "experiment.grace": "6s", "experiment.target": target });
        expect(conclusion).toMatchObject({ verdict: "PASSED" });
        expect(await nodeOfTarget(conclusion)).toBe(secondNodeName);
        stack.unset("experiment.target");
        await undo();
    });

    it("FAILED if the only one is cut off, from the gateway and the deadline Job on the other node", () =>
        withTargetOnSecondNode(async () => {
            const conclusion = await run({ ...enabled, "experiment.run": "2" });
            expect(conclusion).toMatchObject({ verdict: "FAILED" });
            expect(await nodeOfTarget(conclusion)).toBe(secondNodeName);
            expect((await jobPodOf(stack)).spec!.nodeName).toBe(firstNodeName);
            await undo();
        }));

    it("FAILED if the zone of all replicas is cut off; PASSED once the advice's command has spread them", async () => {
        await stack.up({ "replicas.hot-deals": "2" });
        await moveTo(secondNodeName, stack.cluster, hotDeals);
        await stack.untilWhole();
        const { spec } = await stack.cluster.apps.readNamespacedDeployment({ name: "hot-deals", namespace });
        const settings = {
            "experiment.grace": "7s",
            "experiment.radius": "all",
            "experiment.target": "k8s.zone=zone-b,k8s.deployment=hot-deals",
        };
        const { verdict, advice } = await run({ ...enabled, ...settings, "experiment.run": "zone" });
        expect([verdict, advice]).toEqual(["FAILED", [expect.anything()]]);
        expect(advice![0]!.seen).toMatch(/^All 2 replicas of Deployment hot-deals ran on nodes with k8s\.zone zone-b/);
        try {
            await paste(advice![0]!.command);
            await rolledOut();
            expect(await nodesOf()).toEqual(new Set([firstNodeName, secondNodeName]));
            expect((await run(settingsToShow(advice![0]!, namespace))).verdict).toBe("PASSED");
        } finally {
            for (const key of Object.keys(settings)) stack.unset(key);
            await undo();
            const value = spec!.template.spec!.topologySpreadConstraints;
            const change = [{ op: "replace", path: "/spec/template/spec/topologySpreadConstraints", value }];
            const patch = ["patch", "deployment", "hot-deals", "--type=json", "--patch", JSON.stringify(change)];
            await kubectl(["--namespace", namespace, ...patch]);
            await rolledOut();
        }
    });

    it("goes on after `kubectl drain`", async () => {
        await stack.up({ "replicas.hot-deals": "3" });
        try {
            await drain(secondNodeName);
            expect(await nodesOf()).toEqual(new Set([firstNodeName]));
            await until("three are ready", async () => {
                const { status } = await stack.cluster.apps.readNamespacedDeployment({ name: "hot-deals", namespace });
                return status?.readyReplicas === 3;
            });
            await stack.untilWhole();
        } finally {
            await uncordon(secondNodeName);
        }
    });

    it("an agent without room on its node: the update says so, and no experiment takes the rest for all", async () => {
        const agent = { namespace: `${namespace}-agent`, name: "agent" };
        const withAgent = { "agent.enabled": "true", "agent.timeout": "20s" };
        await stack.setSecret("agent.key", randomBytes(24).toString("hex"));
        await fill(stack);
        try {
            const error = await stack.failingUp(withAgent);
            expect(error).toMatch(/the agent is not ready after 20 s: 1 of 2 pods are ready/);
            expect(error).toMatch(/Insufficient cpu/);
            const agents = (await findAgents(stack.cluster, agent))!;
            await expect(askAgents(stack.cluster, agents)).rejects.toThrow(/^agent \S+ does not answer/);
        } finally {
            await ignoreNotFound(stack.cluster.core.deleteNamespacedPod({ name: filler, namespace }));
        }
        try {
            const { outputs } = await stack.up({ "agent.timeout": "1m" });
            expect(outputs.agent!.value).toMatchObject({ ready: "2 of 2" });
        } finally {
            await stack.up({ "agent.enabled": "false" });
        }
    });

    it("INCONCLUSIVE if the target's node is lost; without its pods, the shop recovers on the other", () =>
        withTargetOnSecondNode(async () => {
            stack.said = "";
            const running = run({ ...enabled, "experiment.run": "3", "experiment.duration": "8s" });
            try {
                // Cilium needs up to 40 s for labels, which two updates before this have changed.
                const patience = { timeoutMs: 150_000, pauseMs: 50 };
                await until("the attack is proven", () => stack.said.includes("Proven: "), patience);
                await killSecondNode();
                expect(await running).toMatchObject({
                    verdict: "INCONCLUSIVE",
                    reason: expect.stringMatching(/could not be (tried|asked)|nothing can be run/),
                });
                // As an operator does it, who knows that the node is off: Kubernetes would wait for five minutes.
                const lost = ["--field-selector", `spec.nodeName=${secondNodeName}`, "--force", "--grace-period=0"];
                await kubectl(["delete", "pods", "--namespace", namespace, ...lost]);
                await stack.untilWhole();
                await undo();
            } finally {
                await running.catch(() => undefined);
                await restoreSecondNode();
            }
        }));
});

const filler = "filler";

/** Has a pod request what is left of the second node's processors, all but a little. */
async function fill({ cluster }: TestStack): Promise<void> {
    const { status } = await cluster.core.readNode({ name: secondNodeName });
    const { items } = await cluster.core.listPodForAllNamespaces({ fieldSelector: `spec.nodeName=${secondNodeName}` });
    const living = items.filter((pod) => !hasEnded(pod));
    const requests = living.flatMap(({ spec }) => spec!.containers.map(({ resources }) => resources?.requests?.cpu));
    const requested = requests.reduce((sum, cpu = "0") => sum + millisOf(cpu), 0);
    const cpu = `${millisOf(status!.allocatable!.cpu!) - requested - 5}m`;
    const container = {
        name: filler,
        image: nodeImage,
        command: ["sleep", "infinity"],
        resources: { requests: { cpu } },
        securityContext: restrictedContainer,
    };
    const spec = {
        nodeSelector: { "topology.kubernetes.io/zone": "zone-b" },
        terminationGracePeriodSeconds: 0,
        securityContext: restrictedPod(users.node),
        containers: [container],
    };
    await cluster.core.createNamespacedPod({ namespace, body: { metadata: { name: filler }, spec } });
    await kubectl(["--namespace", namespace, "wait", "--for=condition=Ready", "--timeout=60s", `pod/${filler}`]);
}

/** Of a quantity of processors, such as `2` or `25m`. */
const millisOf = (cpu: string) => (cpu.endsWith("m") ? Number(cpu.slice(0, -1)) : Number(cpu) * 1_000);
