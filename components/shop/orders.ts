import * as pulumi from "@pulumi/pulumi";
import { join } from "node:path";
import { Program, servicesFolder } from "../program/program";
import { MessageBroker } from "./broker";
import type { Database } from "./database";
import type { StorageArgs } from "./dataClaim";
import { HttpService } from "./httpService";
import type { Workload } from "./workload";

export interface OrdersArgs {
    namespace: pulumi.Input<string>;
    images: { node: string; nats: string };
    database: Database;
    /** Number of pods by workload. @default left to the cluster, which makes one */
    replicas?: Partial<Record<string, number>>;
    brokerStorage: StorageArgs;
    /** See `HttpServiceArgs`. @default 0 */
    shutdownDelayMs?: number;
}

/** What variant seven adds: orders, which travel through a message broker to the inventory. */
export class Orders extends pulumi.ComponentResource {
    /** They may stay Pending on a small node, which must hold nobody else up. */
    readonly workloads: Workload[];

    constructor(
        name: string,
        { namespace, images, database, replicas = {}, brokerStorage, shutdownDelayMs }: OrdersArgs,
        opts?: pulumi.ComponentResourceOptions,
    ) {
        super("chaos-shop:shop:Orders", name, {}, opts);
        const child = { parent: this };
        const broker = new MessageBroker(
            "message-broker",
            { namespace, image: images.nats, storage: brokerStorage },
            child,
        );

        const program = new Program({ namespace, entry: join(servicesFolder, "backoffice", "main.ts") }, child);
        const services = (["orders", "inventory"] as const).map((workload) => {
            const env = { ...database.envFor(workload), ...broker.envFor(workload) };
            const args = {
                namespace,
                image: images.node,
                program,
                runs: workload,
                env,
                serviceType: "NodePort",
                replicas: replicas[workload],
                mayStayPending: true,
                shutdownDelayMs,
            } as const;
            return new HttpService(workload, args, child);
        });
        this.workloads = [broker.workload, ...services];
        this.registerOutputs({});
    }
}
