import type * as k8s from "@pulumi/kubernetes";
import type * as kx from "@pulumi/kubernetesx";
import type * as pulumi from "@pulumi/pulumi";
import { restrictedContainer, restrictedPod, users } from "../program/podSecurity";
import { nodeEnvironment, type Program, programCommand, programMount } from "../program/program";
import { nodeOptions } from "./nodeOptions";
import { type ServiceArgs, Workload } from "./workload";

export interface HttpServiceArgs {
    namespace: pulumi.Input<string>;
    /** A Node image. */
    image: string;
    program: Program;
    /** Which of the program's bundle it is, as its folder in `services/` is called. */
    runs: string;
    /** The program's environment, besides PORT. */
    env: kx.types.EnvMap;
    serviceType: ServiceArgs["type"];
    /** Name of the ServiceAccount whose token the pod gets. @default none: the pod has no token */
    account?: pulumi.Input<string>;
    replicas?: number;
    /** See `WorkloadArgs`. @default false */
    mayStayPending?: boolean;
    /** How long the program goes on serving after it was told to stop, in milliseconds. @default 0 */
    shutdownDelayMs?: number;
}

const port = 8080;

/** What a program may take to stop, its delay aside: it drains for half of that. */
const stopSeconds = 10;

/** One of the shop's HTTP programs: a Node pod that mounts its program, reached on port 80 of its Service. */
export class HttpService extends Workload {
    constructor(name: string, args: HttpServiceArgs, opts?: pulumi.ComponentResourceOptions) {
        const { shutdownDelayMs = 0 } = args;
        super(
            name,
            {
                namespace: args.namespace,
                replicas: args.replicas,
                mayStayPending: args.mayStayPending,
                service: { type: args.serviceType, port: 80, targetPort: "http" },
                pod: {
                    serviceAccountName: args.account,
                    automountServiceAccountToken: args.account !== undefined,
                    enableServiceLinks: false,
                    terminationGracePeriodSeconds: stopSeconds + Math.ceil(shutdownDelayMs / 1_000),
                    topologySpreadConstraints: ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map(
                        (topologyKey) => spreadOver(topologyKey, name),
                    ),
                    securityContext: restrictedPod(users.node),
                    // A look-up that a dropping network swallows is asked again soon, so that recovery is not held up.
                    dnsConfig: {
                        options: [
                            { name: "timeout", value: "1" },
                            { name: "attempts", value: "2" },
                        ],
                    },
                    containers: [
                        {
                            name,
                            image: args.image,
                            command: programCommand({ nodeOptions, name: args.runs }),
                            env: {
                                ...args.env,
                                ...nodeEnvironment,
                                PORT: String(port),
                                ...(shutdownDelayMs > 0 && { SHUTDOWN_DELAY_MS: String(shutdownDelayMs) }),
                            },
                            ports: { http: port },
                            volumeMounts: [args.program.mount(programMount)],
                            resources: {
                                requests: { cpu: "25m", memory: "64Mi" },
                                limits: { cpu: "1", memory: "128Mi" },
                            },
                            securityContext: restrictedContainer,
                            // Often, and out of the Service after two in a row: a pod that is cut off must leave it
                            // within seconds, or its replicas cannot help.
                            readinessProbe: {
                                httpGet: { path: "/health/readiness", port: "http" },
                                periodSeconds: 1,
                                timeoutSeconds: 2,
                                failureThreshold: 2,
                            },
                            livenessProbe: {
                                httpGet: { path: "/health/liveness", port: "http" },
                                periodSeconds: 10,
                                timeoutSeconds: 2,
                                failureThreshold: 3,
                            },
                        },
                    ],
                },
            },
            opts,
        );
    }
}

/**
 * Has replicas lie on several nodes and in several zones, where there are several: one that is lost takes as few as can
 * be. Whether the workload has replicas or not, so that to scale it changes nothing but their number.
 */
function spreadOver(topologyKey: string, workload: string): k8s.types.input.core.v1.TopologySpreadConstraint {
    // Those of an update's old pods are about to go.
    return {
        topologyKey,
        maxSkew: 1,
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: { app: workload } },
        matchLabelKeys: ["pod-template-hash"],
    };
}
