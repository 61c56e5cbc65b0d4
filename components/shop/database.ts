import * as k8s from "@pulumi/kubernetes";
import * as kx from "@pulumi/kubernetesx";
import * as pulumi from "@pulumi/pulumi";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { restrictedContainer, restrictedPod, users } from "../program/podSecurity";
import { servicesFolder, shortHash } from "../program/program";
import { Passwords } from "./passwords";
import { Workload } from "./workload";

export interface DatabaseArgs {
    namespace: pulumi.Input<string>;
    /** A Debian-based PostgreSQL image. */
    image: string;
    /** Size of the claim that the data lies on, such as `1Gi`. @default none: an `emptyDir`, gone with its pod */
    storage?: string;
}

const port = 5432;
const mounts = { scripts: "/scripts", data: "/var/lib/postgresql/data", temporary: "/tmp" };

/** PostgreSQL with the shop's products: the workload `database` behind the Service `product-db`. */
export class Database extends pulumi.ComponentResource {
    /** What a client that only reads needs to connect, as the environment variables that PostgreSQL's clients know. */
    readonly readerEnv: kx.types.EnvMap;

    constructor(name: string, { namespace, image, storage }: DatabaseArgs, opts?: pulumi.ComponentResourceOptions) {
        super("chaos-shop:shop:Database", name, {}, opts);
        const child = { parent: this };

        const credentials = new Passwords(`${name}-credentials`, ["owner", "reader"], namespace, child);
        const scripts = startScripts(name, namespace, child);
        const data = storage === undefined ? emptyDir("data", mounts.data) : claim(name, namespace, storage, child).mount(mounts.data);

        const workload = new Workload(
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
                                CREDENTIALS: credentials.version,
                            },
                            ports: { postgres: port },
                            volumeMounts: [scripts.mount(mounts.scripts), data, emptyDir("temporary", mounts.temporary)],
                            resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { cpu: "1", memory: "512Mi" } },
                            securityContext: restrictedContainer,
                            // start.sh opens the port only once the products are there.
                            readinessProbe: { tcpSocket: { port: "postgres" }, periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 2 },
                            livenessProbe: { tcpSocket: { port: "postgres" }, initialDelaySeconds: 60, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
                        },
                    ],
                },
            },
            child,
        );

        this.readerEnv = {
            PGHOST: workload.service.metadata.name,
            PGPORT: String(port),
            PGUSER: "shop_reader",
            PGDATABASE: "shop",
            PGPASSWORD: credentials.asEnvValue("reader"),
            CREDENTIALS: credentials.version,
        };
        this.registerOutputs({});
    }
}

function startScripts(name: string, namespace: pulumi.Input<string>, opts: pulumi.CustomResourceOptions): kx.ConfigMap {
    const folder = join(servicesFolder, "database");
    const files = readdirSync(folder).filter((file) => /\.(?:sh|sql|conf)$/.test(file)).sort();
    const data = Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
    const scripts = `${name}-scripts-${shortHash(JSON.stringify(data))}`;
    return new kx.ConfigMap(scripts, { metadata: { name: scripts, namespace }, data, immutable: true }, opts);
}

function claim(name: string, namespace: pulumi.Input<string>, size: string, opts: pulumi.CustomResourceOptions): kx.PersistentVolumeClaim {
    return new kx.PersistentVolumeClaim(
        `${name}-data`,
        {
            // A claim may bind only once its pod is there: waiting for it before the pod would wait forever.
            metadata: { name: `${name}-data`, namespace, annotations: { "pulumi.com/skipAwait": "true" } },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: size } } },
        },
        opts,
    );
}

function emptyDir(name: string, destPath: string): kx.types.VolumeMount {
    return { volume: { name, emptyDir: {} as k8s.types.input.core.v1.EmptyDirVolumeSource }, destPath };
}
