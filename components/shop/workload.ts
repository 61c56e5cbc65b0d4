import * as k8s from "@pulumi/kubernetes";
import * as kx from "@pulumi/kubernetesx";
import * as pulumi from "@pulumi/pulumi";

export interface WorkloadArgs {
    namespace: pulumi.Input<string>;
    pod: kx.types.PodSpec;
    /** Number of pods. @default left to the cluster: 1, or what `kubectl scale` made of it */
    replicas?: number;
    /** `Recreate` where two pods must never run side by side. @default "RollingUpdate" */
    strategy?: "RollingUpdate" | "Recreate";
    service: ServiceArgs;
    /** Whether the update goes on without waiting for its pods; somebody else tells then how they fare. @default false */
    mayStayPending?: boolean;
}

export interface ServiceArgs {
    /** @default the workload's name */
    name?: string;
    type: "ClusterIP" | "NodePort" | "LoadBalancer";
    port: number;
    /** Name of the container's port. */
    targetPort: string;
}

/** The document's limit for an installation: 5m0s. */
export const installTimeout = "5m0s";

/** A Deployment and the Service in front of it. The pod's first container bears the workload's name, as do its labels. */
export class Workload extends pulumi.ComponentResource {
    readonly deployment: kx.Deployment;
    readonly service: kx.Service;

    constructor(
        readonly name: string,
        args: WorkloadArgs,
        opts?: pulumi.ComponentResourceOptions,
    ) {
        super("chaos-shop:shop:Workload", name, {}, opts);
        const labels = { app: name, "app.kubernetes.io/part-of": "chaos-shop" };
        const serviceName = args.service.name ?? name;

        this.deployment = new kx.Deployment(
            name,
            {
                metadata: {
                    name,
                    namespace: args.namespace,
                    labels,
                    ...(args.mayStayPending && { annotations: { "pulumi.com/skipAwait": "true" } }),
                },
                spec: deploymentSpec(args),
            },
            { parent: this, customTimeouts: { create: installTimeout, update: installTimeout } },
        );
        this.service = new kx.Service(
            serviceName,
            {
                metadata: {
                    name: serviceName,
                    namespace: args.namespace,
                    labels,
                    // The provider would wait up to ten minutes for an address that a local cluster without a tunnel
                    // never gives. The gateway's address is waited for where it is read.
                    annotations: { "pulumi.com/skipAwait": "true" },
                },
                spec: {
                    type: args.service.type,
                    selector: { app: name },
                    ports: [{ name: "main", port: args.service.port, targetPort: args.service.targetPort }],
                },
            },
            { parent: this },
        );
        if ((args.replicas ?? 1) > 1) {
            // One at a time, and one that is not ready anyway at any time: it must not keep a node from being drained.
            const spec = {
                maxUnavailable: 1,
                unhealthyPodEvictionPolicy: "AlwaysAllow",
                selector: { matchLabels: { app: name } },
            };
            new k8s.policy.v1.PodDisruptionBudget(
                name,
                { metadata: { name, namespace: args.namespace, labels }, spec },
                { parent: this },
            );
        }
        this.registerOutputs({});
    }
}

/** The Deployment's spec; without a number of replicas where the stack sets none, so that the update leaves a scaled one alone. */
function deploymentSpec({ pod, replicas, strategy = "RollingUpdate" }: WorkloadArgs) {
    const spec = new kx.PodBuilder(pod).asDeploymentSpec({
        replicas,
        progressDeadlineSeconds: 300,
        revisionHistoryLimit: 2,
        strategy:
            strategy === "Recreate"
                ? { type: strategy }
                : { type: strategy, rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
    return replicas === undefined ? spec.apply(({ replicas: _, ...rest }) => rest) : spec;
}
