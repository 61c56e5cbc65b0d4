import type * as kx from "@pulumi/kubernetesx";
import * as pulumi from "@pulumi/pulumi";
import { restrictedContainer, restrictedPod, users } from "../../chaos/cluster/pod-security";
import { tcpLiveness } from "../base/probes";
import { dataVolume, type StorageArgs } from "./data-claim";
import { emptyDir, serviceFiles } from "./files";
import { Passwords } from "./passwords";
import { Workload } from "./workload";

export interface DatabaseArgs {
    namespace: pulumi.Input<string>;
    /** A Debian-based PostgreSQL image. */
    image: string;
    storage: StorageArgs;
}

const port = 5432;
const mounts = { scripts: "/scripts", data: "/var/lib/postgresql/data", temporary: "/tmp" };

/** PostgreSQL with the shop's products: the workload `database` behind the Service `product-db`. */
export class Database extends pulumi.ComponentResource {
    /** libpq's environment variables with which a client connects as an account. */
    readonly envFor: (account: "reader" | "orders" | "inventory") => kx.types.EnvMap;
    readonly workload: Workload;
    /** Resolves when everything that the pod mounts exists. */
    readonly prepared: pulumi.Output<unknown>;

    constructor(name: string, { namespace, image, storage }: DatabaseArgs, opts?: pulumi.ComponentResourceOptions) {
        super("chaos-shop:shop:Database", name, {}, opts);
        const child = { parent: this };

        const credentials = new Passwords(
            `${name}-accounts`,
            ["owner", "reader", "orders", "inventory"],
            namespace,
            child,
        );
        const scripts = serviceFiles(`${name}-scripts`, "database", namespace, child);
        this.prepared = pulumi.all([credentials.metadata.name, scripts.metadata.name]);
        const data = dataVolume(name, namespace, storage, mounts.data, child);

        this.workload = new Workload(
            name,
            {
                namespace,
                strategy: "Recreate",
                service: { name: "product-db", type: "NodePort", port, targetPort: "postgres" },
                pod: {
                    automountServiceAccountToken: false,
                    enableServiceLinks: false,
                    terminationGracePeriodSeconds: 20,
                    securityContext: { ...restrictedPod(users.postgres), fsGroupChangePolicy: "OnRootMismatch" },
                    containers: [
                        {
                            name,
                            image,
                            command: ["sh", `${mounts.scripts}/start.sh`],
                            env: {
                                PGDATA: `${mounts.data}/shop`,
                                POSTGRES_PASSWORD: credentials.asEnvValue("owner"),
                                READER_PASSWORD: credentials.asEnvValue("reader"),
                                // Both variants have the same database: changing the variant must not restart it.
                                ORDERS_PASSWORD: credentials.asEnvValue("orders"),
                                INVENTORY_PASSWORD: credentials.asEnvValue("inventory"),
                                CREDENTIALS: credentials.version,
                            },
                            ports: { postgres: port },
                            volumeMounts: [
                                scripts.mount(mounts.scripts),
                                data,
                                emptyDir("temporary", mounts.temporary),
                            ],
                            resources: {
                                requests: { cpu: "50m", memory: "128Mi" },
                                limits: { cpu: "1", memory: "512Mi" },
                            },
                            securityContext: restrictedContainer,
                            // start.sh opens the port when the products are loaded. The later probes are rare: each
                            // starts a PostgreSQL process, and the end of the container tells as much.
                            startupProbe: {
                                tcpSocket: { port: "postgres" },
                                periodSeconds: 1,
                                timeoutSeconds: 2,
                                failureThreshold: 120,
                            },
                            readinessProbe: {
                                tcpSocket: { port: "postgres" },
                                periodSeconds: 10,
                                timeoutSeconds: 2,
                                failureThreshold: 2,
                            },
                            livenessProbe: tcpLiveness("postgres"),
                        },
                    ],
                },
            },
            child,
        );

        this.envFor = (account) => ({
            PGHOST: this.workload.service.metadata.name,
            PGPORT: String(port),
            PGUSER: `shop_${account}`,
            PGDATABASE: "shop",
            PGPASSWORD: credentials.asEnvValue(account),
            CREDENTIALS: credentials.version,
        });
        this.registerOutputs({});
    }
}
