import type * as kx from "@pulumi/kubernetesx";
import * as pulumi from "@pulumi/pulumi";
import { restrictedContainer, restrictedPod, users } from "../program/podSecurity";
import { dataVolume, type StorageArgs } from "./dataClaim";
import { serviceFiles } from "./files";
import { Passwords } from "./passwords";
import { Workload } from "./workload";

export interface MessageBrokerArgs {
    namespace: pulumi.Input<string>;
    /** A NATS image. */
    image: string;
    storage: StorageArgs;
}

const port = 4222;
const mounts = { configuration: "/configuration", data: "/data" };

/**
 * NATS with JetStream. Where its data are gone with its pod nothing is lost by that: orders are sent again until they are
 * settled. On a claim they are there again a little sooner.
 */
export class MessageBroker extends pulumi.ComponentResource {
    /** What a client needs to connect as an account. */
    readonly envFor: (account: "orders" | "inventory") => kx.types.EnvMap;
    readonly workload: Workload;

    constructor(
        name: string,
        { namespace, image, storage }: MessageBrokerArgs,
        opts?: pulumi.ComponentResourceOptions,
    ) {
        super("chaos-shop:shop:MessageBroker", name, {}, opts);
        const child = { parent: this };

        const credentials = new Passwords(`${name}-accounts`, ["orders", "inventory"], namespace, child);
        const configuration = serviceFiles(`${name}-configuration`, "broker", namespace, child);
        const data = dataVolume(name, namespace, storage, mounts.data, child);
        this.workload = new Workload(
            name,
            {
                namespace,
                strategy: "Recreate",
                mayStayPending: true,
                service: { type: "NodePort", port, targetPort: "nats" },
                pod: {
                    automountServiceAccountToken: false,
                    enableServiceLinks: false,
                    terminationGracePeriodSeconds: 10,
                    securityContext: { ...restrictedPod(users.nats), fsGroupChangePolicy: "OnRootMismatch" },
                    containers: [
                        {
                            name,
                            image,
                            command: ["nats-server", "--config", `${mounts.configuration}/nats.conf`],
                            env: {
                                ORDERS_PASSWORD: credentials.asEnvValue("orders"),
                                INVENTORY_PASSWORD: credentials.asEnvValue("inventory"),
                                CREDENTIALS: credentials.version,
                            },
                            ports: { nats: port, monitoring: 8222 },
                            volumeMounts: [configuration.mount(mounts.configuration), data],
                            resources: {
                                requests: { cpu: "25m", memory: "32Mi" },
                                limits: { cpu: "1", memory: "128Mi" },
                            },
                            securityContext: restrictedContainer,
                            readinessProbe: {
                                httpGet: { path: "/healthz", port: "monitoring" },
                                periodSeconds: 1,
                                timeoutSeconds: 2,
                                failureThreshold: 2,
                            },
                            livenessProbe: {
                                tcpSocket: { port: "nats" },
                                periodSeconds: 10,
                                timeoutSeconds: 5,
                                failureThreshold: 6,
                            },
                        },
                    ],
                },
            },
            child,
        );

        this.envFor = (account) => ({
            BROKER_HOST: this.workload.service.metadata.name,
            BROKER_PORT: String(port),
            BROKER_USER: account,
            BROKER_PASSWORD: credentials.asEnvValue(account),
            BROKER_CREDENTIALS: credentials.version,
        });
        this.registerOutputs({});
    }
}
