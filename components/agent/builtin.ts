import * as k8s from "@pulumi/kubernetes";
import * as kx from "@pulumi/kubernetesx";
import * as pulumi from "@pulumi/pulumi";
import { join } from "node:path";
import { agentKeyEntry, agentLabels, agentOfShop, agentPort } from "../../shared/agent";
import { labels } from "../../shared/labels";
import { restrictedContainer, restrictedPod, users } from "../program/podSecurity";
import { nodeEnvironment, Program, programCommand, programMount, servicesFolder } from "../program/program";
import { takeOver } from "../program/takeOver";

export interface BuiltinAgentArgs {
    /** Where the agent goes. */
    namespace: pulumi.Input<string>;
    /** Namespace of the shop that it is installed with; also what tells its ClusterRole from another stack's. */
    shop: string;
    clusterName: string;
    key: pulumi.Input<string>;
    /** A Node image. */
    image: string;
}

const keyMount = "/agent-key";

/** What the agent gets by with where it knows thousands of containers; see `npm run bench -- agent-memory`. */
export const heap = ["--max-semi-space-size=2", "--max-old-space-size=48"];

/**
 * This project's discovery agent: a DaemonSet whose pods each serve the containers of their node. Its account may read
 * pods and the ReplicaSets that made them, and nothing else.
 *
 * The key's Secret is immutable and named by the engine: another key is another Secret, which rolls the pods, so that
 * an update that rotates the key is done when all agents ask for the new one.
 */
export class BuiltinAgent extends pulumi.ComponentResource {
    readonly daemonSet: k8s.apps.v1.DaemonSet;

    constructor(name: string, args: BuiltinAgentArgs, opts?: pulumi.ComponentResourceOptions) {
        super("chaos-shop:agent:BuiltinAgent", name, {}, { ...opts, transformations: [takeOver] });
        const child = { parent: this };
        const { namespace } = args;
        const metadata = { name, namespace, labels: { ...agentLabels, [agentOfShop]: args.shop } };

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
        const program = new Program({ namespace, entry: join(servicesFolder, "agent", "main.ts") }, child);

        this.daemonSet = new k8s.apps.v1.DaemonSet(
            name,
            {
                // Readiness is waited for where all ways of installing an agent are.
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
        this.registerOutputs({});
    }
}

function clusterRights(
    name: string,
    { shop, namespace }: BuiltinAgentArgs,
    account: k8s.core.v1.ServiceAccount,
    opts: pulumi.CustomResourceOptions,
): void {
    // Not of any namespace, so that two stacks in one cluster need two names.
    const metadata = { name: `chaos-shop-agent-${shop}`, labels: agentLabels };
    const role = new k8s.rbac.v1.ClusterRole(
        `${name}-role`,
        {
            metadata,
            rules: [
                { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] },
                { apiGroups: ["apps"], resources: ["replicasets"], verbs: ["get"] },
            ],
        },
        opts,
    );
    new k8s.rbac.v1.ClusterRoleBinding(
        `${name}-binding`,
        {
            metadata,
            roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role.metadata.name },
            subjects: [{ kind: "ServiceAccount", name: account.metadata.name, namespace }],
        },
        opts,
    );
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
        // What runs on a tainted node is there to be discovered, too.
        tolerations: [{ operator: "Exists" }],
        securityContext: restrictedPod(users.node),
        containers: [
            {
                name: "agent",
                image,
                command: programCommand({ nodeOptions: heap }),
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
                readinessProbe: {
                    httpGet: { path: "/health/readiness", port: "http" },
                    periodSeconds: 2,
                    timeoutSeconds: 2,
                    failureThreshold: 3,
                },
                livenessProbe: {
                    httpGet: { path: "/health/liveness", port: "http" },
                    periodSeconds: 10,
                    timeoutSeconds: 2,
                    failureThreshold: 3,
                },
            },
        ],
        volumes: [
            { name: "program", configMap: { name: program.metadata.name } },
            { name: "key", secret: { secretName: key.metadata.name, defaultMode: 0o440 } },
        ],
    };
}
