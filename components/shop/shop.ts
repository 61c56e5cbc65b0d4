import * as pulumi from "@pulumi/pulumi";
import { join } from "node:path";
import { labels } from "../../shared/labels";
import { Database } from "./database";
import { HttpService } from "./httpService";
import { GatewayIngress, type GatewayIngressArgs } from "./ingress";
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
    /** Claims of the database and of the broker; see `StorageArgs`. @default none: their data are gone with their pods */
    storage?: { database?: string; broker?: string; class?: string; keep?: boolean };
    /** See `HttpServiceArgs`. @default 0 */
    shutdownDelayMs?: number;
    /** Host names in front of the gateway. @default none: there is no Ingress */
    ingress?: Omit<GatewayIngressArgs, "namespace">;
}

/** The catalogue backends, which run one program, told its category. */
const catalogues = { "fashion-bestseller": "FASHION", "toys-bestseller": "TOYS", "hot-deals": "HOT_DEALS" };

/** The demo shop: a gateway over three catalogues and their database, and over orders in variant seven. */
export class Shop extends pulumi.ComponentResource {
    readonly namespace: pulumi.Output<string>;
    readonly gateway: HttpService;
    /** Known once all workloads are in the cluster. */
    readonly installed: pulumi.Output<unknown>;
    /** Workloads that no update waits for, since they may find no room. */
    readonly mayStayPending: readonly string[];

    /** This shop, once it is ready: its pods are waited for as they are made. */
    get whenReady(): pulumi.Resource {
        return this;
    }

    constructor(name: string, args: ShopArgs, opts?: pulumi.ComponentResourceOptions) {
        super(
            "chaos-shop:shop:Shop",
            name,
            {},
            { ...opts, transformations: [takeOver, ...(opts?.transformations ?? [])] },
        );
        const child = { parent: this };
        const { node, postgres, nats } = args.images;
        const { replicas = {}, gatewayServiceType = "LoadBalancer", storage = {}, shutdownDelayMs } = args;

        // Claims are gone with their namespace.
        const keep = storage.keep && (storage.database !== undefined || storage.broker !== undefined);
        this.namespace = ownNamespace(args.namespace, restrictedNamespaceLabels, {
            ...child,
            retainOnDelete: keep,
        }).metadata.name;
        const database = new Database(
            "database",
            { namespace: this.namespace, image: postgres, storage: { ...storage, size: storage.database } },
            child,
        );
        // The database's pod is what all others wait for: nothing is made before it that it does not need.
        const namespace = pulumi.all([this.namespace, database.prepared]).apply(([made]) => made);

        const program = new Program({ namespace, entry: join(servicesFolder, "storefront", "main.ts") }, child);
        const backends = Object.entries(catalogues).map(([workload, category]) => {
            const env = { ...database.envFor("reader"), CATEGORY: category };
            return new HttpService(
                workload,
                {
                    namespace,
                    image: node,
                    program,
                    runs: "catalogue",
                    env,
                    serviceType: "NodePort",
                    replicas: replicas[workload],
                    shutdownDelayMs,
                },
                child,
            );
        });

        const env = {
            FASHION_URL: "http://fashion-bestseller",
            TOYS_URL: "http://toys-bestseller",
            HOT_DEALS_URL: "http://hot-deals",
            TARGET_LABEL: labels.target,
        };
        const { account } = new PodReader("gateway", { namespace }, child);
        this.gateway = new HttpService(
            "gateway",
            {
                namespace,
                image: node,
                program,
                runs: "gateway",
                env,
                serviceType: gatewayServiceType,
                account,
                replicas: replicas.gateway,
                shutdownDelayMs,
            },
            child,
        );
        if (args.ingress) new GatewayIngress("gateway", { namespace, ...args.ingress }, child);
        const brokerStorage = { ...storage, size: storage.broker };
        const orders =
            args.variant === "seven"
                ? new Orders(
                      "orders",
                      { namespace, images: { node, nats }, database, replicas, brokerStorage, shutdownDelayMs },
                      child,
                  )
                : undefined;

        const workloads = [database.workload, ...backends, this.gateway, ...(orders?.workloads ?? [])];
        this.installed = pulumi.all(workloads.map(({ deployment }) => deployment.id));
        this.mayStayPending = (orders?.workloads ?? []).map(({ name }) => name);
        this.registerOutputs({});
    }
}
