import * as pulumi from "@pulumi/pulumi";
import { labels } from "../../chaos/cluster/labels";
import type { Workloads } from "../cluster/ready";
import { declareObjects } from "../manifest/declared-object";
import type { ManifestObject } from "../manifest/read";
import { holdsKey } from "./read-manifest";

export interface ManifestAgentArgs {
    /** For objects that name no namespace. All objects are created after it. */
    namespace: pulumi.Input<string>;
    objects: readonly ManifestObject[];
    /** Every field that contains it becomes a secret. */
    key: string;
}

/** The cluster-wide kinds that an agent's manifest may contain. */
const clusterWide = [
    "Namespace",
    "ClusterRole",
    "ClusterRoleBinding",
    "PriorityClass",
    "CustomResourceDefinition",
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
];

/** The objects of an agent's manifest, each a resource of the stack. */
export class ManifestAgent extends pulumi.ComponentResource {
    /** Resolves when all objects are in the cluster. */
    readonly installed: pulumi.Output<unknown>;

    constructor(name: string, { namespace, objects, key }: ManifestAgentArgs, opts?: pulumi.ComponentResourceOptions) {
        super("chaos-shop:agent:ManifestAgent", name, {}, opts);
        const isNamespace = ({ kind }: ManifestObject) => kind === "Namespace";
        const argsOf = (object: ManifestObject) => ({
            labels: isNamespace(object) ? { ...object.metadata.labels, [labels.protected]: "true" } : undefined,
            // Depends on the agent's namespace even if the object names it itself.
            namespace: clusterWide.includes(object.kind)
                ? undefined
                : pulumi.output(namespace).apply((own) => object.metadata.namespace ?? own),
            isSecret: (value: unknown) => holdsKey(value, key),
        });
        this.installed = declareObjects("agent", objects, isNamespace, argsOf, { parent: this });
        this.registerOutputs({});
    }
}

/** The DaemonSets of a manifest, which must become ready. */
export function daemonSetsOf(objects: readonly ManifestObject[], namespace: string): Workloads[] {
    const daemonSets = objects.filter(({ kind }) => kind === "DaemonSet");
    return daemonSets.map(({ metadata }) => ({
        namespace: metadata.namespace ?? namespace,
        includes: ({ name }) => name === metadata.name,
    }));
}
