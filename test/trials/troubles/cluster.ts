import { PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import { setTimeout as sleep } from "node:timers/promises";
import { askApiServer } from "../../../chaos/kinds/checks/request";
import { forbidExec } from "../../support/forbid-exec";
import { ignoreNotFound, mergePatch } from "../../support/typed-cluster";
import { addresses } from "../../../sandbox/node/addresses";
import { runCommand } from "../../../toolchain/run-command";
import { firstNode, networkNamespaceFileOf } from "../../../sandbox/node/nodes";
import type { TestStack } from "../../e2e/shop/support";
import { until } from "../../support/until";
import type { Run, Trouble } from "../kind";
import { jobPodOf, targetOf, toTakeEffectMs } from "./objects";
import { untilRolledOut } from "./rollout";

/** Of TCP's `discard` service, which no program of the shop has. */
const silentPort = 9;
const attacked = "hot-deals";

/** Has the attacked pods declare a port at which nobody listens. */
export async function declarePort({ stack, afterwards }: Run): Promise<void> {
    const change = (port: object) => ({
        spec: { template: { spec: { containers: [{ name: attacked, ports: [port] }] } } },
    });
    const strategicMerge = setHeaderOptions("Content-Type", PatchStrategy.StrategicMergePatch);
    const apply = async (port: object) => {
        const place = { name: attacked, namespace: stack.namespace };
        await stack.cluster.apps.patchNamespacedDeployment({ ...place, body: change(port) }, strategicMerge);
        await untilRolledOut(stack, attacked);
    };
    const port = { containerPort: silentPort, protocol: "TCP" };
    afterwards(() => apply({ ...port, $patch: "delete" }));
    await apply(port);
}

/** The port is left out of the proof, which says so. */
export const portLeftOut: Trouble = async ({ stack, moment }) => {
    await moment();
    const told = new RegExp(`Not part of the proof.*(?::|port )${silentPort}\\b`);
    if (!told.test(stack.said)) throw new Error(`the update does not say that port ${silentPort} is not proven`);
    return { saw: `port ${silentPort} was left out` };
};

/** As a security team's tool does it, or a GitOps controller: it cuts off everybody, the attack's targets or not. */
export const defaultDeny: Trouble = async ({ stack, moment, afterwards }) => {
    await moment({ leaveMs: toTakeEffectMs });
    const { cluster, namespace } = stack;
    const name = "trials-default-deny";
    const spec = { podSelector: {}, policyTypes: ["Ingress", "Egress"] };
    afterwards(() => ignoreNotFound(cluster.networking.deleteNamespacedNetworkPolicy({ name, namespace })));
    await cluster.networking.createNamespacedNetworkPolicy({ namespace, body: { metadata: { name }, spec } });
    return { saw: `added ${name}` };
};

/** In part, as Argo Rollouts does it: by a label that the shop's pods have, and a fault's proxy has not. */
export const selectorPatched: Trouble = async ({ stack, moment, afterwards }) => {
    await moment({ leaveMs: toTakeEffectMs });
    const patch = (value: string | null) => {
        const body = { spec: { selector: { "app.kubernetes.io/part-of": value } } };
        const place = { name: attacked, namespace: stack.namespace };
        return stack.cluster.core.patchNamespacedService({ ...place, body }, mergePatch());
    };
    afterwards(() => patch(null));
    await patch("chaos-shop");
    return { saw: `added a label to the selector of ${attacked}` };
};

/** As a HorizontalPodAutoscaler does it, once the experiment has scaled the Deployment. */
export const scaledBack: Trouble = async ({ stack, moment, signal }) => {
    await moment({ leaveMs: 4_000 });
    const { apps } = stack.cluster;
    const place = { name: attacked, namespace: stack.namespace };
    const before = 1;
    // Earlier, the action would set its number again.
    const isScaled = () => {
        signal.throwIfAborted();
        return Promise.resolve(stack.said.includes(`Done: scale ${attacked} to`));
    };
    await until("the experiment has scaled it", isScaled, { timeoutMs: 10_000, pauseMs: 50 });
    await apps.patchNamespacedDeploymentScale({ ...place, body: { spec: { replicas: before } } }, mergePatch());
    return { saw: `scaled ${attacked} back to ${before}` };
};

/** Nothing that this machine sends reaches the cluster for a time. In the cluster, all goes on. */
export const networkStalled =
    (seconds: number): Trouble =>
    async ({ moment, afterwards }) => {
        await moment({ leaveMs: seconds * 1_000 });
        const rule = (does: string) => {
            const drop = ["PREROUTING", "--in-interface", addresses.nodeInterface, "--jump", "DROP"];
            const inside = `--net=${networkNamespaceFileOf(firstNode)}`;
            return runCommand("nsenter", [inside, "iptables", "-t", "mangle", does, ...drop]);
        };
        let isStalled = true;
        const goOn = async () => {
            if (isStalled) await rule("--delete");
            isStalled = false;
        };
        await rule("--insert");
        afterwards(goOn);
        await sleep(seconds * 1_000);
        await goOn();
        return { saw: `lost what was sent for ${seconds} s` };
    };

const evicting =
    (leaveMs: number): Trouble =>
    async ({ stack, moment }) => {
        await moment({ leaveMs });
        const { metadata } = await jobPodOf(stack);
        const name = metadata!.name!;
        await stack.cluster.core.createNamespacedPodEviction({ name, namespace: stack.namespace, body: { metadata } });
        return { saw: `evicted ${name}` };
    };

/** As `kubectl drain` does it. */
export const jobEvicted = evicting(0);

/** The same of a Job that makes the attack itself, so early that the attack ends within the window. */
export const attackingJobEvicted = evicting(1_000);

/** Has an admission policy refuse commands in the shop's pods, also to accounts with the right. */
export const execDenied: Trouble = async ({ stack, moment, afterwards }) => {
    await moment({ leaveMs: toTakeEffectMs });
    const { cluster, namespace } = stack;
    const named = { name: `trials-no-exec-${namespace}`, message: "trials deny commands" };
    const { allow } = await forbidExec(cluster, namespace, named);
    afterwards(allow);
    const target = await targetOf(stack);
    await until("commands are refused", () => isRefused(stack, target), { timeoutMs: 10_000, pauseMs: 50 });
    return { saw: "commands in pods were refused" };
};

/** Admission comes before the upgrade of the connection, which is missing here. */
async function isRefused({ cluster, namespace }: TestStack, pod: string): Promise<boolean> {
    const path = `/api/v1/namespaces/${namespace}/pods/${pod}/exec?command=true&stdout=true`;
    return (await askApiServer(cluster, path, { method: "POST" })).status === 403;
}
