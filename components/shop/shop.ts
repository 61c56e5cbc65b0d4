import * as pulumi from "@pulumi/pulumi";
import { join } from "node:path";
import { labels } from "../../shared/labels";
import { Database } from "./database";
import { HttpService } from "./httpService";
import { Orders } from "./orders";
import { ownNamespace } from "../program/ownNamespace";
import { restrictedNamespaceLabels } from "../program/podSecurity";
import { Program, servicesFolder } from "../program/program";
import { PodReader } from "./podReader";
import { takeOver } from "../program/takeOver";
import type { ServiceArgs } from "./workload";

export interface ShopArgs {
    /** Namespace that the shop is put into; made with it. */
    namespace: string;
    images: { node: string; postgres: string; nats: string };
    /** `seven` has orders, inventory and message-broker, too. @default "four" */
    variant?: "four" | "seven";
    /** Number of pods by workload. @default left to the cluster, which makes one */
    replicas?: Partial<Record<string, number>>;
    /** @default "LoadBalancer" */
    gatewayServiceType?: ServiceArgs["type"];
    /** Size of the database's claim. @default none: the data is gone with its pod */
    databaseStorage?: string;
}

/** The catalogue backends: one program, told its category. */
const catalogues = { "fashion-bestseller": "FASHION", "toys-bestseller": "TOYS", "hot-deals": "HOT_DEALS" };

/** The demo shop: a gateway over three catalogues and their database, and over orders in variant seven. */
export class Shop extends pulumi.ComponentResource {
    readonly namespace: pulumi.Output<string>;
    readonly gateway: HttpService;
    readonly orders?: Orders;

    constructor(name: string, args: ShopArgs, opts?: pulumi.ComponentResourceOptions) {
        super("chaos-shop:shop:Shop", name, {}, { ...opts, transformations: [takeOver] });
        const child = { parent: this };
        const { node, postgres, nats } = args.images;
        const { replicas = {}, gatewayServiceType = "LoadBalancer" } = args;

        this.namespace = ownNamespace(args.namespace, restrictedNamespaceLabels, child).metadata.name;
        const namespace = this.namespace;
        const database = new Database("database", { namespace, image: postgres, storage: args.databaseStorage }, child);

        const catalogue = new Program({ namespace, entry: join(servicesFolder, "catalogue", "main.ts") }, child);
        for (const [workload, category] of Object.entries(catalogues)) {
            const env = { ...database.envFor("reader"), CATEGORY: category };
            new HttpService(workload, { namespace, image: node, program: catalogue, env, serviceType: "NodePort", replicas: replicas[workload] }, child);
        }

        const program = new Program({ namespace, entry: join(servicesFolder, "gateway", "main.ts") }, child);
        const env = { FASHION_URL: "http://fashion-bestseller", TOYS_URL: "http://toys-bestseller", HOT_DEALS_URL: "http://hot-deals", TARGET_LABEL: labels.target };
        const { account } = new PodReader("gateway", { namespace }, child);
        this.gateway = new HttpService("gateway", { namespace, image: node, program, env, serviceType: gatewayServiceType, account, replicas: replicas.gateway }, child);
        if (args.variant === "seven") this.orders = new Orders("orders", { namespace, images: { node, nats }, database, replicas }, child);
        this.registerOutputs({});
    }
}
