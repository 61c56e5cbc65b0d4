import * as pulumi from "@pulumi/pulumi";
import { restrictedPod, users } from "../../chaos/pods/pod-security";
import { tcpLiveness, tcpProbe } from "../base/workload-parts";
import { dataVolume, emptyDir, serviceFiles, type StorageArgs } from "./files";
import { type Access, Passwords } from "./passwords";
import { Workload } from "./workload";

export interface DatabaseArgs {
    namespace: pulumi.Input<string>;
    /** A Debian-based PostgreSQL image. */
    image: string;
    storage: StorageArgs;
}

export const databasePort = 5432;
const accounts = ["owner", "reader", "orders", "inventory"] as const;
const mounts = {
    scripts: "/scripts",
    passwords: "/passwords",
    data: "/var/lib/postgresql/data",
    temporary: "/tmp",
};
const clientMount = "/passwords/database";

/** PostgreSQL with the shop's products: the workload `database` behind the Service `product-db`. */
export class Database extends pulumi.ComponentResource {
    /** How a client connects: with libpq's environment variables, and its password in a file. */
    readonly accessFor: (account: "reader" | "orders" | "inventory") => Access;
    readonly workload: Workload;
    /** Resolves when everything that the pod mounts exists. */
    readonly prepared: pulumi.Output<unknown>;

    constructor(name: string, { namespace, image, storage }: DatabaseArgs, opts?: pulumi.ComponentResourceOptions) {
        super("chaos-shop:shop:Database", name, {}, opts);
        const child = { parent: this };

        // Both variants have the same accounts: changing the variant must not restart the database.
        const credentials = new Passwords(`${name}-accounts`, accounts, namespace, child);
        const scripts = serviceFiles(`${name}-scripts`, "database", namespace, child);
        this.prepared = pulumi.all([credentials.metadata.name, scripts.metadata.name]);
        const data = dataVolume(name, namespace, storage, mounts.data, child);

        this.workload = new Workload(
            name,
            {
                namespace,
                strategy: "Recreate",
                service: { name: "product-db", type: "NodePort", port: databasePort, targetPort: "postgres" },
                pod: {
                    terminationGracePeriodSeconds: 20,
                    securityContext: { ...restrictedPod(users.postgres), fsGroupChangePolicy: "OnRootMismatch" },
                    containers: [
                        {
                            name,
                            image,
                            command: ["sh", `${mounts.scripts}/start.sh`],
                            env: {
                                PGDATA: `${mounts.data}/shop`,
                                PASSWORDS: mounts.passwords,
                                CREDENTIALS: credentials.version,
                            },
                            ports: { postgres: databasePort },
                            volumeMounts: [
                                scripts.mount(mounts.scripts),
                                credentials.mountOf(accounts, mounts.passwords),
                                data,
                                emptyDir("temporary", mounts.temporary),
                            ],
                            resources: {
                                requests: { cpu: "50m", memory: "128Mi" },
                                limits: { cpu: "1", memory: "512Mi" },
                            },
                            // start.sh opens the port when the products are loaded. The later probes are rare: each
                            // starts a PostgreSQL process, and a failure also ends the container.
                            startupProbe: tcpProbe("postgres", { periodSeconds: 1, failureThreshold: 120 }),
                            readinessProbe: tcpProbe("postgres", { periodSeconds: 10, failureThreshold: 2 }),
                            livenessProbe: tcpLiveness("postgres"),
                        },
                    ],
                },
            },
            child,
        );

        this.accessFor = (account) => ({
            env: {
                PGHOST: this.workload.service.metadata.name,
                PGPORT: String(databasePort),
                PGUSER: `shop_${account}`,
                PGDATABASE: "shop",
                PGPASSWORD_FILE: `${clientMount}/${account}`,
                CREDENTIALS: credentials.version,
            },
            mount: credentials.mountOf([account], clientMount),
        });
        this.registerOutputs({});
    }
}
