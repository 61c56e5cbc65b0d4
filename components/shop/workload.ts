import * as k8s from "@pulumi/kubernetes";
import * as kx from "@pulumi/kubernetesx";
import * as pulumi from "@pulumi/pulumi";
import { restrictedContainer } from "../../chaos/pods/pod-security";

export interface WorkloadArgs {
    namespace: pulumi.Input<string>;
    /** Without what all pods have: see `deploymentSpec`. */
    pod: kx.types.PodSpec & { containers: kx.types.Container[]; initContainers?: kx.types.Container[] };
    /** Number of pods. @default 1, or as set by `kubectl scale` */
    replicas?: number;
    /** `Recreate` if two pods must never run at the same time. @default "RollingUpdate" */
    strategy?: "RollingUpdate" | "Recreate";
    service: ServiceArgs;
    /** Whether the resource does not wait for its pods; see `awaitWorkloads`. @default false */
    mayStayPending?: boolean;
}

export interface ServiceArgs {
    /** @default the workload's name */
    name?: string;
    type: "ClusterIP" | "NodePort" | "LoadBalancer";
    port: number;
    targetPort: string;
}

/** The specification's limit for an installation. */
const installTimeout = "5m0s";

/** A Deployment and its Service. The pod's first container has the workload's name. */
export class Workload extends pulumi.ComponentResource {
    readonly deployment: kx.Deployment;
    readonly service: kx.Service;
    /** The Service's cluster IPs, if a cluster has assigned them, and its port. */
    readonly address: pulumi.Output<{ ips?: string[]; port: number }>;

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
                    // The provider would wait up to ten minutes for an external address, which a local cluster without
                    // a tunnel never assigns. awaitGatewayAddress waits instead.
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
        // The preview of a new Service does not say that it will have cluster IPs, and a plan would want none.
        this.address = this.service.spec.clusterIPs.apply((ips) =>
            ips === undefined && pulumi.runtime.isDryRun()
                ? (pulumi.unknown as never)
                : { ips, port: args.service.port },
        );
        if ((args.replicas ?? 1) > 1) {
            // Drains evict one pod at a time. Unhealthy pods do not block them.
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

/** Without `replicas` if the stack sets none: updates keep the number that `kubectl scale` set. */
function deploymentSpec({ pod, replicas, strategy = "RollingUpdate" }: WorkloadArgs) {
    const restricted = (container: kx.types.Container) => ({ ...container, securityContext: restrictedContainer });
    const whole = {
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        nodeSelector: { "kubernetes.io/os": "linux" },
        ...pod,
        initContainers: pod.initContainers?.map(restricted),
        containers: pod.containers.map(restricted),
    };
    const spec = new kx.PodBuilder(whole).asDeploymentSpec({
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
