import type * as kx from "@pulumi/kubernetesx";
import * as pulumi from "@pulumi/pulumi";
import { restrictedContainer, restrictedPod, users } from "../../chaos/cluster/pod-security";
import { tcpLiveness } from "../base/probes";
import { dataVolume, type StorageArgs } from "./data-claim";
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
 * NATS with JetStream. Without a PersistentVolumeClaim no order is lost, either: orders are sent again until they are
 * settled. With one they are settled a little sooner after a restart.
 */
export class MessageBroker extends pulumi.ComponentResource {
    /** The environment variables with which a client connects as an account. */
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
                            livenessProbe: tcpLiveness("nats"),
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
