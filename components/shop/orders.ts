import * as pulumi from "@pulumi/pulumi";
import { join } from "node:path";
import { Program, servicesFolder } from "../base/program";
import { MessageBroker } from "./broker";
import type { Database } from "./database";
import type { StorageArgs } from "./files";
import { HttpService } from "./http-service";
import type { Workload } from "./workload";

export interface OrdersArgs {
    namespace: pulumi.Input<string>;
    images: { node: string; nats: string };
    database: Database;
    /** Number of pods by workload. @default 1, or as set by `kubectl scale` */
    replicas?: Partial<Record<string, number>>;
    brokerStorage: StorageArgs;
    /** See `HttpServiceArgs`. @default 0 */
    shutdownDelayMs?: number;
}

/** The additions of variant seven: orders, which travel through a message broker to the inventory. */
export class Orders extends pulumi.ComponentResource {
    /** No update waits for them: a small node may have no room for their pods. */
    readonly workloads: Workload[];

    constructor(
        name: string,
        { namespace, images, database, replicas = {}, brokerStorage, shutdownDelayMs }: OrdersArgs,
        opts?: pulumi.ComponentResourceOptions,
    ) {
        super("chaos-shop:shop:Orders", name, {}, opts);
        const child = { parent: this };
        const broker = new MessageBroker("message-broker", { namespace, images, storage: brokerStorage }, child);

        const program = new Program(
            { namespace, entry: join(servicesFolder, "backoffice", "start-backoffice.ts") },
            child,
        );
        const services = (["orders", "inventory"] as const).map((workload) => {
            const args = {
                namespace,
                image: images.node,
                program,
                runs: workload,
                logsInTo: [database.accessFor(workload), broker.accessFor(workload)],
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
