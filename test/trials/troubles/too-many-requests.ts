import { type Cluster as KubeCluster, FlowcontrolApiserverV1Api } from "@kubernetes/client-node";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type TypedCluster as Cluster, connect, ignoreNotFound, statusOf } from "../../support/typed-cluster";
import { until } from "../../support/until";
import type { Run, Trouble } from "../kind";

const name = "chaos-shop-trials";
const accountNamespace = "kube-system";
const rejectedForMs = 2_000;
const answeredMs = 500;

/**
 * Runs the update as an account that API Priority and Fairness may limit. The sandbox's administrator is in the group
 * system:masters, which is exempt: only the FlowSchema named `exempt` may have the precedence 1.
 */
export async function asLimitedAccount({ stack, afterwards }: Run): Promise<void> {
    const { cluster } = stack;
    const { core, rbac } = cluster;
    const folder = mkdtempSync(join(tmpdir(), "chaos-shop-trials-"));
    const usual = process.env.KUBECONFIG;
    const account = { name, namespace: accountNamespace };
    const remove = async () => {
        await ignoreNotFound(rbac.deleteClusterRoleBinding({ name }));
        await ignoreNotFound(core.deleteNamespacedServiceAccount(account));
    };
    afterwards(async () => {
        process.env.KUBECONFIG = usual;
        rmSync(folder, { recursive: true });
        await remove();
    });
    await remove();
    await core.createNamespacedServiceAccount({ namespace: accountNamespace, body: { metadata: { name } } });
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" };
    const subjects = [{ kind: "ServiceAccount", ...account }];
    await rbac.createClusterRoleBinding({ body: { metadata: { name }, roleRef, subjects } });
    const body = { spec: { audiences: [], expirationSeconds: 3_600 } };
    const { status } = await core.createNamespacedServiceAccountToken({ ...account, body });
    const path = join(folder, "config");
    writeFileSync(path, kubeconfigWith(cluster, status!.token), { mode: 0o600 });
    process.env.KUBECONFIG = path;
}

/** The cluster's kubeconfig with another user: the context keeps its name. */
function kubeconfigWith({ library: kubeconfig }: Cluster, token: string): string {
    const { name: cluster, server, caData, caFile } = kubeconfig.getCurrentCluster() as KubeCluster;
    const context = kubeconfig.getCurrentContext();
    const authority = caData ? { "certificate-authority-data": caData } : { "certificate-authority": caFile };
    return JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        clusters: [{ name: cluster, cluster: { server, ...authority } }],
        users: [{ name, user: { token } }],
        contexts: [{ name: context, context: { cluster, user: name } }],
        "current-context": context,
    });
}

/**
 * Has the API server answer reads of the namespace's pods and Services with 429, for the update and the deadline Job.
 * What it only passes on is never limited: requests through its proxy, logs, and commands in pods
 * (kube-apiserver's `LongRunningFunc`).
 */
export const tooManyRequests: Trouble = async ({ stack, moment, afterwards }) => {
    // As the update is: its kubeconfig is set. A call that may take longer is sent again until it is answered.
    const limited = connect({ context: stack.cluster.kubeconfig.getCurrentContext() }, answeredMs);
    await moment({ leaveMs: 1_000 });
    const { namespace } = stack;
    const api = flowControl(stack.cluster);
    afterwards(() => removeLimit(stack.cluster));
    await api.createPriorityLevelConfiguration({ body: { metadata: { name }, spec: nothingAtATime } });
    await api.createFlowSchema({ body: { metadata: { name }, spec: readsOf(namespace) } });

    const read = () => limited.core.listNamespacedPod({ namespace, limit: 1 });
    let rejected = false;
    const ask = async () => {
        // Not awaited: the first one waits in the queue.
        void read().catch((error: unknown) => (rejected ||= statusOf(error) === 429));
        return rejected;
    };
    await until("the API server answers with 429", ask, { timeoutMs: 10_000, pauseMs: 50 });
    await sleep(rejectedForMs);
    await removeLimit(stack.cluster);
    return { saw: `rejected reads for ${rejectedForMs / 1_000} s` };
};

/** Lets the API server serve everything again. */
export async function removeLimit(cluster: Cluster): Promise<void> {
    await ignoreNotFound(flowControl(cluster).deleteFlowSchema({ name }));
    await ignoreNotFound(flowControl(cluster).deletePriorityLevelConfiguration({ name }));
}

const flowControl = ({ library }: Cluster) => library.makeApiClient(FlowcontrolApiserverV1Api);

/**
 * One request waits, for nothing; the others are rejected. Without a queue (`Reject`), the API server serves one
 * request at a time even with no shares: queueset.go, `canAccommodateSeatsLocked`.
 */
const nothingAtATime = {
    type: "Limited",
    limited: {
        nominalConcurrencyShares: 0,
        borrowingLimitPercent: 0,
        limitResponse: { type: "Queue", queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } },
    },
};

const readsOf = (namespace: string) => ({
    priorityLevelConfiguration: { name },
    matchingPrecedence: 2,
    rules: [
        {
            subjects: [
                { kind: "ServiceAccount", serviceAccount: { name, namespace: accountNamespace } },
                { kind: "Group", group: { name: `system:serviceaccounts:${namespace}` } },
            ],
            resourceRules: [
                { apiGroups: [""], resources: ["pods", "services"], verbs: ["get", "list"], namespaces: [namespace] },
            ],
        },
    ],
});
