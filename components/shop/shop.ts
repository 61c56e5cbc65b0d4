import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { join } from "node:path";
import { Database } from "./database";
import { HttpService } from "./http-service";
import { GatewayIngress, type GatewayIngressArgs } from "./ingress";
import { Orders } from "./orders";
import { NetworkPolicies } from "../base/network-policies";
import { ownNamespace } from "../base/own-namespace";
import { restrictedNamespaceLabels } from "../../chaos/pods/pod-security";
import { Program, servicesFolder } from "../base/program";
import { shopPolicies } from "./policies";
import { forceOwnership } from "../base/workload-parts";
import type { ServiceArgs } from "./workload";

export interface ShopArgs {
    /** The shop's namespace, created with it. */
    namespace: string;
    /** The stack's identity; see `StackCluster`. @default none */
    identity?: pulumi.Input<string>;
    images: { node: string; postgres: string; nats: string };
    /** `seven` adds orders, inventory and message-broker. @default "four" */
    variant?: "four" | "seven";
    /** Number of pods by workload. @default 1, or as set by `kubectl scale` */
    replicas?: Partial<Record<string, number>>;
    /** @default a Service of type LoadBalancer */
    gateway?: { serviceType: ServiceArgs["type"] };
    /** PersistentVolumeClaims of database and broker; see `StorageArgs`. @default none */
    storage?: { database?: string; broker?: string; class?: string; keep?: boolean };
    /** See `HttpServiceArgs`. @default 0 */
    shutdownDelayMs?: number;
    /** Whether pods may exchange only the traffic that the shop needs. @default true */
    networkPolicies?: boolean;
    /** While an experiment is enabled, its run may have changed the policies, and restores them. @default disabled */
    experiment?: { enabled: boolean };
    /** Host names to route to the gateway. @default none: there is no Ingress */
    ingress?: Omit<GatewayIngressArgs, "namespace">;
}

/** The catalogue backends and their categories. They run the same program. */
const catalogues = { "fashion-bestseller": "FASHION", "toys-bestseller": "TOYS", "hot-deals": "HOT_DEALS" };

/** The demo shop: a gateway, three catalogues and their database. Variant seven adds orders. */
export class Shop extends pulumi.ComponentResource {
    readonly namespace: pulumi.Output<string>;
    readonly gateway: HttpService;
    /** Resolves when all workloads are in the cluster. */
    readonly installed: pulumi.Output<unknown>;
    /** Workloads that no update waits for: a small node may have no room for them. */
    readonly mayStayPending: readonly string[];

    /** What to depend on to run after the shop is ready: its resources wait for their pods. */
    get whenReady(): pulumi.Resource {
        return this;
    }

    constructor(name: string, args: ShopArgs, opts?: pulumi.ComponentResourceOptions) {
        super(
            "chaos-shop:shop:Shop",
            name,
            {},
            { ...opts, transformations: [forceOwnership, ...(opts?.transformations ?? [])] },
        );
        const child = { parent: this };
        const { node, postgres, nats } = args.images;
        const { replicas = {}, storage = {}, shutdownDelayMs } = args;

        const keep = storage.keep && (storage.database !== undefined || storage.broker !== undefined);
        this.namespace = ownNamespace(
            args.namespace,
            { identity: args.identity, labels: restrictedNamespaceLabels, keep },
            child,
        ).metadata.name;
        const database = new Database(
            "database",
            { namespace: this.namespace, image: postgres, storage: { ...storage, size: storage.database } },
            child,
        );
        // All others wait for the database's pod: create first only what it needs.
        const namespace = pulumi.all([this.namespace, database.prepared]).apply(([made]) => made);

        const program = new Program(
            { namespace, entry: join(servicesFolder, "storefront", "start-storefront.ts") },
            child,
        );
        const common = { namespace, image: node, program, shutdownDelayMs };
        const backends = Object.entries(catalogues).map(([workload, category]) => {
            const args = {
                ...common,
                runs: "catalogue",
                env: { CATEGORY: category },
                logsInTo: [database.accessFor("reader")],
                serviceType: "NodePort",
                replicas: replicas[workload],
            } as const;
            return new HttpService(workload, args, child);
        });

        const env = {
            FASHION_URL: "http://fashion-bestseller",
            TOYS_URL: "http://toys-bestseller",
            HOT_DEALS_URL: "http://hot-deals",
        };
        const account = podReader("gateway", namespace, child);
        const { serviceType = "LoadBalancer" } = args.gateway ?? {};
        this.gateway = new HttpService(
            "gateway",
            { ...common, runs: "gateway", env, serviceType, account, replicas: replicas.gateway },
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
        if (args.networkPolicies ?? true) {
            const policies = shopPolicies(Object.fromEntries(workloads.map(({ name, address }) => [name, address])));
            new NetworkPolicies("shop", { namespace, ...policies, areLent: args.experiment?.enabled }, child);
        }
        this.installed = pulumi.all(workloads.map(({ deployment }) => deployment.id));
        this.mayStayPending = (orders?.workloads ?? []).map(({ name }) => name);
        this.registerOutputs({});
    }
}

/** A ServiceAccount that may only list the pods of its namespace. @returns its name, when its RoleBinding exists */
function podReader(
    name: string,
    namespace: pulumi.Input<string>,
    opts: pulumi.ComponentResourceOptions,
): pulumi.Output<string> {
    const child = { parent: new pulumi.ComponentResource("chaos-shop:shop:PodReader", name, {}, opts) };
    const metadata = { name, namespace };
    const account = new k8s.core.v1.ServiceAccount(name, { metadata, automountServiceAccountToken: false }, child);
    const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }];
    const role = new k8s.rbac.v1.Role(name, { metadata, rules }, child);
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: role.metadata.name };
    const subjects = [{ kind: "ServiceAccount", name: account.metadata.name, namespace }];
    return new k8s.rbac.v1.RoleBinding(name, { metadata, roleRef, subjects }, child).metadata.name;
}
