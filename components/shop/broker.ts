import * as pulumi from "@pulumi/pulumi";
import { restrictedPod, users } from "../../chaos/pods/pod-security";
import { httpProbe, tcpLiveness } from "../base/workload-parts";
import { dataVolume, emptyDir, serviceFiles, type StorageArgs } from "./files";
import { type Access, Passwords } from "./passwords";
import { Workload } from "./workload";

export interface MessageBrokerArgs {
    namespace: pulumi.Input<string>;
    /** A NATS image, and a Node image, which writes NATS's configuration. */
    images: { nats: string; node: string };
    storage: StorageArgs;
}

export const brokerPort = 4222;
const accounts = ["orders", "inventory"] as const;
const mounts = { files: "/files", passwords: "/passwords", configuration: "/configuration", data: "/data" };
const configurationFile = `${mounts.configuration}/nats.conf`;
const clientMount = "/passwords/broker";

const resources = {
    requests: { cpu: "25m", memory: "32Mi" },
    limits: { cpu: "1", memory: "128Mi" },
};

/**
 * NATS with JetStream. Without a PersistentVolumeClaim no order is lost, either: orders are sent again until they are
 * settled. With one they are settled a little sooner after a restart.
 */
export class MessageBroker extends pulumi.ComponentResource {
    readonly accessFor: (account: (typeof accounts)[number]) => Access;
    readonly workload: Workload;

    constructor(
        name: string,
        { namespace, images, storage }: MessageBrokerArgs,
        opts?: pulumi.ComponentResourceOptions,
    ) {
        super("chaos-shop:shop:MessageBroker", name, {}, opts);
        const child = { parent: this };

        const credentials = new Passwords(`${name}-accounts`, accounts, namespace, child);
        const files = serviceFiles(`${name}-configuration`, "broker", namespace, child);
        const data = dataVolume(name, namespace, storage, mounts.data, child);
        // In memory, since it has the passwords.
        const configuration = emptyDir("configuration", mounts.configuration, { medium: "Memory" });
        this.workload = new Workload(
            name,
            {
                namespace,
                strategy: "Recreate",
                mayStayPending: true,
                service: { type: "NodePort", port: brokerPort, targetPort: "nats" },
                pod: {
                    terminationGracePeriodSeconds: 10,
                    securityContext: { ...restrictedPod(users.nats), fsGroupChangePolicy: "OnRootMismatch" },
                    initContainers: [
                        {
                            name: "configuration",
                            image: images.node,
                            command: ["node", `${mounts.files}/configure.js`, mounts.passwords, configurationFile],
                            volumeMounts: [
                                files.mount(mounts.files),
                                credentials.mountOf(accounts, mounts.passwords),
                                configuration,
                            ],
                            resources,
                        },
                    ],
                    containers: [
                        {
                            name,
                            image: images.nats,
                            command: ["nats-server", "--config", configurationFile],
                            env: { CREDENTIALS: credentials.version },
                            ports: { nats: brokerPort, monitoring: 8222 },
                            volumeMounts: [{ name: "configuration", mountPath: mounts.configuration }, data],
                            resources,
                            readinessProbe: httpProbe(
                                "/healthz",
                                { periodSeconds: 1, failureThreshold: 2 },
                                "monitoring",
                            ),
                            livenessProbe: tcpLiveness("nats"),
                        },
                    ],
                },
            },
            child,
        );

        this.accessFor = (account) => ({
            env: {
                BROKER_HOST: this.workload.service.metadata.name,
                BROKER_PORT: String(brokerPort),
                BROKER_USER: account,
                BROKER_PASSWORD_FILE: `${clientMount}/${account}`,
                BROKER_CREDENTIALS: credentials.version,
            },
            mount: credentials.mountOf([account], clientMount),
        });
        this.registerOutputs({});
    }
}
