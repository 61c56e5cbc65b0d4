import { kubectlApply } from "./cluster";
import { namespaces, type Session } from "./session";
import { until } from "./time";

/** Runs so many small pods with one port each in `namespaces.targets`, and waits until they are ready. */
export async function runServers({ cluster, context }: Session, replicas: number): Promise<void> {
    const namespace = namespaces.targets;
    const labels = { app: "servers" };
    const container = {
        name: "server",
        image: "docker.io/library/nats:2.9.10",
        ports: [{ containerPort: 4222 }],
        resources: { requests: { cpu: "1m", memory: "8Mi" } },
    };
    const pod = { terminationGracePeriodSeconds: 0, automountServiceAccountToken: false, containers: [container] };
    const spec = { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } };
    await kubectlApply(context, [
        { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
        { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "servers", namespace }, spec },
    ]);
    await until(`${replicas} pods in ${namespace} are ready`, 300, 1_000, async () => {
        const { status } = await cluster.apps.readNamespacedDeployment({ name: "servers", namespace });
        return status?.readyReplicas === replicas;
    });
}
