import type * as k8s from "@pulumi/kubernetes";
import type * as kx from "@pulumi/kubernetesx";
import type * as pulumi from "@pulumi/pulumi";
import { restrictedPod, users } from "../../chaos/pods/pod-security";
import { nodeEnvironment, type Program, programCommand, programMount } from "../base/program";
import { httpLiveness, httpProbe } from "../base/workload-parts";
import type { Access } from "./passwords";
import { type ServiceArgs, Workload } from "./workload";

export interface HttpServiceArgs {
    namespace: pulumi.Input<string>;
    image: string;
    program: Program;
    /** Which program of the bundle to run, by its folder in `services/`. */
    runs: string;
    /** The program's environment, besides PORT and what it takes to log in. @default none */
    env?: kx.types.EnvMap;
    logsInTo?: readonly Access[];
    serviceType: ServiceArgs["type"];
    /** The ServiceAccount whose token the pod mounts. @default none: the pod has no token */
    account?: pulumi.Input<string>;
    replicas?: number;
    /** See `WorkloadArgs`. @default false */
    mayStayPending?: boolean;
    /** How long the program keeps serving after SIGTERM, in milliseconds. @default 0 */
    shutdownDelayMs?: number;
}

export const programPort = 8080;

/** Time for a program to stop after its delay. It drains connections for half of it. */
const stopSeconds = 10;

/** One of the shop's HTTP programs: Node pods that mount the program, behind port 80 of a Service. */
export class HttpService extends Workload {
    constructor(name: string, args: HttpServiceArgs, opts?: pulumi.ComponentResourceOptions) {
        const { shutdownDelayMs = 0, logsInTo = [] } = args;
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
                    terminationGracePeriodSeconds: stopSeconds + Math.ceil(shutdownDelayMs / 1_000),
                    topologySpreadConstraints: ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map(
                        (topologyKey) => spreadOver(topologyKey, name),
                    ),
                    securityContext: restrictedPod(users.node),
                    // Retries a lost DNS query soon: the default of 5 s would delay recovery.
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
                            command: programCommand(nodeOptions, args.runs),
                            env: {
                                ...args.env,
                                ...Object.fromEntries(logsInTo.flatMap(({ env }) => Object.entries(env))),
                                ...nodeEnvironment,
                                PORT: String(programPort),
                                ...(shutdownDelayMs > 0 && { SHUTDOWN_DELAY_MS: String(shutdownDelayMs) }),
                            },
                            ports: { http: programPort },
                            volumeMounts: [args.program.mount(programMount), ...logsInTo.map(({ mount }) => mount)],
                            resources: {
                                requests: { cpu: "25m", memory: "64Mi" },
                                limits: { cpu: "1", memory: "128Mi" },
                            },
                            // Frequent: an isolated pod must leave its Service within seconds, or its replicas
                            // cannot help.
                            readinessProbe: httpProbe("/health/readiness", { periodSeconds: 1, failureThreshold: 2 }),
                            livenessProbe: httpLiveness,
                        },
                    ],
                },
            },
            opts,
        );
    }
}

/**
 * Spreads replicas over nodes and zones. A workload with one replica has this, too: scaling it must change only the
 * number of replicas.
 */
function spreadOver(topologyKey: string, workload: string): k8s.types.input.core.v1.TopologySpreadConstraint {
    return {
        topologyKey,
        maxSkew: 1,
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: { app: workload } },
        // Ignores the old pods of a rolling update.
        matchLabelKeys: ["pod-template-hash"],
    };
}

/**
 * Node's options for the shop's programs.
 *
 * - V8 sizes its heap by the machine's memory: on a large machine it grows past 100 MB under load. With these sizes a
 *   program stays near 95 MB. Half the semi-space doubles the gateway's p99 latency: a request's objects often outlive
 *   the young generation then.
 * - The program's own thread collects young objects. Parallel collection waits until each helper thread gets a
 *   processor: under load that took 5 to 10 ms instead of 1 ms, and all requests waited.
 */
export const nodeOptions = ["--max-semi-space-size=8", "--max-old-space-size=48", "--no-parallel-scavenge"];
