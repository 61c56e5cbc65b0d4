import * as pulumi from "@pulumi/pulumi";
import { labels } from "../../chaos/cluster/labels";
import type { Workloads } from "../cluster/ready";
import { DeclaredObject, resourceNameOf } from "../manifest/declared-object";
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
    readonly ids: pulumi.Output<string[]>;

    constructor(name: string, { namespace, objects, key }: ManifestAgentArgs, opts?: pulumi.ComponentResourceOptions) {
        super("chaos-shop:agent:ManifestAgent", name, {}, opts);
        const namespaces = objects.filter(({ kind }) => kind === "Namespace").map((object) => this.make(object, key));
        const others = objects
            .filter(({ kind }) => kind !== "Namespace")
            .map((object) => this.make(object, key, namespaces, namespace));
        this.ids = pulumi.all([...namespaces, ...others].map(({ id }) => id));
        this.registerOutputs({});
    }

    private make(
        object: ManifestObject,
        key: string,
        dependsOn: pulumi.Resource[] = [],
        namespace?: pulumi.Input<string>,
    ): pulumi.CustomResource {
        const { kind, metadata } = object;
        const args = {
            object,
            labels: kind === "Namespace" ? { ...metadata.labels, [labels.protected]: "true" } : metadata.labels,
            // Depends on the agent's namespace even if the object names it itself.
            namespace: clusterWide.includes(kind)
                ? undefined
                : pulumi.output(namespace).apply((own) => metadata.namespace ?? own!),
            isSecret: (value: unknown) => holdsKey(value, key),
        };
        return new DeclaredObject(resourceNameOf("agent", object), args, { parent: this, dependsOn });
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
