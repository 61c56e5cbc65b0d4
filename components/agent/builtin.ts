import * as k8s from "@pulumi/kubernetes";
import * as kx from "@pulumi/kubernetesx";
import * as pulumi from "@pulumi/pulumi";
import { join } from "node:path";
import { agentKeyEntry, agentPort } from "../../chaos/targets/containers";
import { labels } from "../../chaos/cluster/labels";
import { restrictedContainer, restrictedPod, users } from "../../chaos/pods/pod-security";
import { nodeEnvironment, Program, programCommand, programMount, servicesFolder } from "../base/program";
import { fromEverybody, NetworkPolicies, type NetworkPoliciesArgs, toApiServer } from "../base/network-policies";
import { virtualNodes } from "../cluster/left-out";
import { forceOwnership, httpLiveness, httpProbe } from "../base/workload-parts";
import { placeOf, type PlacedObject } from "../manifest/kinds";

export interface BuiltinAgentArgs {
    namespace: pulumi.Input<string>;
    /** Namespace of the shop that the agent belongs to. */
    shop: string;
    /** Annotations of what it has in the whole cluster, by which the stack knows its own. @default none */
    marks?: Record<string, pulumi.Input<string>>;
    clusterName: string;
    key: pulumi.Input<string>;
    image: string;
    /** Whether its pods may exchange only the traffic that they need. @default true */
    networkPolicies?: boolean;
}

const agentLabels = { "app.kubernetes.io/name": "agent", "app.kubernetes.io/part-of": "chaos-shop" };

/** Label on the agent's DaemonSet, for people: the namespace of the shop that it was installed with. */
const agentOf = "chaos-shop/agent-of";

const keyMount = "/agent-key";

/** Enough for an agent that knows thousands of containers. */
const heap = ["--max-semi-space-size=2", "--max-old-space-size=48"];

/**
 * This project's discovery agent: a DaemonSet whose pods each list the containers of their node. Its ServiceAccount may
 * read only pods and their ReplicaSets.
 *
 * The key's Secret is immutable, and the engine names it. A new key is a new Secret, which rolls the pods: an update
 * that rotates the key ends when every agent requires the new one.
 */
export class BuiltinAgent extends pulumi.ComponentResource {
    readonly daemonSet: k8s.apps.v1.DaemonSet;

    constructor(name: string, args: BuiltinAgentArgs, opts?: pulumi.ComponentResourceOptions) {
        super("chaos-shop:agent:BuiltinAgent", name, {}, { ...opts, transformations: [forceOwnership] });
        const child = { parent: this };
        const { namespace } = args;
        const metadata = { name, namespace, labels: { ...agentLabels, [agentOf]: args.shop } };

        const account = new k8s.core.v1.ServiceAccount(`${name}-account`, { metadata }, child);
        clusterRights(name, args, account, child);
        const key = new k8s.core.v1.Secret(
            `${name}-key`,
            {
                metadata: { namespace, labels: agentLabels },
                stringData: { [agentKeyEntry]: pulumi.secret(args.key) },
                immutable: true,
            },
            child,
        );
        const program = new Program({ namespace, entry: join(servicesFolder, "agent", "start-agent.ts") }, child);

        this.daemonSet = new k8s.apps.v1.DaemonSet(
            name,
            {
                // The component Agent waits until the pods are ready.
                metadata: { ...metadata, annotations: { "pulumi.com/skipAwait": "true" } },
                spec: {
                    selector: { matchLabels: agentLabels },
                    updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "50%" } },
                    template: {
                        metadata: { labels: { ...agentLabels, [labels.protected]: "true" } },
                        spec: podSpec(args, account, key, program),
                    },
                },
            },
            child,
        );
        if (args.networkPolicies ?? true) new NetworkPolicies(name, { namespace, ...traffic(name) }, child);
        this.registerOutputs({});
    }
}

/** Experiments ask the agent through the API server's proxy, whose address is the control plane's. */
function traffic(name: string): Omit<NetworkPoliciesArgs, "namespace"> {
    const allowed = { pods: agentLabels, ingress: [fromEverybody(agentPort)], egress: [toApiServer] };
    return { pods: { matchLabels: agentLabels }, allowed: { [name]: allowed } };
}

/** Two stacks in one cluster need two names. */
const rightsName = (shop: string) => `chaos-shop-agent-${shop}`;

/** What the agent has in the whole cluster. @param shop the shop's namespace */
export const clusterWide = (shop: string): PlacedObject[] =>
    ["ClusterRole", "ClusterRoleBinding"].map((kind) =>
        placeOf(
            { apiVersion: "rbac.authorization.k8s.io/v1", kind, metadata: { name: rightsName(shop) } },
            { name: `${kind.toLowerCase()}s`, namespaced: false, verbs: [] },
            "",
        ),
    );

function clusterRights(
    name: string,
    { shop, namespace, marks }: BuiltinAgentArgs,
    account: k8s.core.v1.ServiceAccount,
    opts: pulumi.CustomResourceOptions,
): void {
    const metadata = { name: rightsName(shop), labels: agentLabels, annotations: marks };
    const rules = [
        { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] },
        { apiGroups: ["apps"], resources: ["replicasets"], verbs: ["get"] },
    ];
    const role = new k8s.rbac.v1.ClusterRole(`${name}-role`, { metadata, rules }, opts);
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role.metadata.name };
    const subjects = [{ kind: "ServiceAccount", name: account.metadata.name, namespace }];
    new k8s.rbac.v1.ClusterRoleBinding(`${name}-binding`, { metadata, roleRef, subjects }, opts);
}

function podSpec(
    { clusterName, image }: BuiltinAgentArgs,
    account: k8s.core.v1.ServiceAccount,
    key: k8s.core.v1.Secret,
    program: kx.ConfigMap,
): k8s.types.input.core.v1.PodSpec {
    return {
        serviceAccountName: account.metadata.name,
        enableServiceLinks: false,
        terminationGracePeriodSeconds: 10,
        nodeSelector: { "kubernetes.io/os": "linux" },
        // On a virtual node its pod would stay Pending.
        affinity: {
            nodeAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: {
                    nodeSelectorTerms: [
                        {
                            matchExpressions: virtualNodes.map(({ key, value }) => ({
                                key,
                                operator: "NotIn",
                                values: [value],
                            })),
                        },
                    ],
                },
            },
        },
        // Discovers containers on tainted nodes, too.
        tolerations: [{ operator: "Exists" }],
        securityContext: restrictedPod(users.node),
        containers: [
            {
                name: "agent",
                image,
                command: programCommand(heap),
                env: [
                    ...Object.entries(nodeEnvironment).map(([name, value]) => ({ name, value })),
                    { name: "PORT", value: String(agentPort) },
                    { name: "CLUSTER_NAME", value: clusterName },
                    { name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
                    { name: "KEY_FILE", value: `${keyMount}/${agentKeyEntry}` },
                ],
                ports: [{ name: "http", containerPort: agentPort }],
                volumeMounts: [
                    { name: "program", mountPath: programMount, readOnly: true },
                    { name: "key", mountPath: keyMount, readOnly: true },
                ],
                resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { cpu: "1", memory: "128Mi" } },
                securityContext: restrictedContainer,
                readinessProbe: httpProbe("/health/readiness", { periodSeconds: 2, failureThreshold: 3 }),
                livenessProbe: httpLiveness,
            },
        ],
        volumes: [
            { name: "program", configMap: { name: program.metadata.name } },
            { name: "key", secret: { secretName: key.metadata.name, defaultMode: 0o440 } },
        ],
    };
}
