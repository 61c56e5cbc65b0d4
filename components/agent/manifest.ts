import * as pulumi from "@pulumi/pulumi";
import { labels } from "../../shared/labels";
import type { Workloads } from "../cluster/ready";
import { DeclaredObject, resourceNameOf } from "../manifest/declaredObject";
import type { ManifestObject } from "../manifest/read";
import { holdsKey } from "./readManifest";

export interface ManifestAgentArgs {
    /** For objects that name no namespace; all others come after it, too. */
    namespace: pulumi.Input<string>;
    objects: readonly ManifestObject[];
    /** Whatever holds it is kept as a secret. */
    key: string;
}

/** Kinds that belong to no namespace, of those that an agent's manifest may hold. */
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
    /** Known once all objects are there. */
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
        const marked = kind === "Namespace" ? { ...metadata.labels, [labels.protected]: "true" } : metadata.labels;
        // After the agent's own namespace, also where the object names that itself.
        const placed = clusterWide.includes(kind)
            ? undefined
            : pulumi.output(namespace).apply((own) => metadata.namespace ?? own!);
        const args = { object, namespace: placed, labels: marked, isSecret: (value: unknown) => holdsKey(value, key) };
        return new DeclaredObject(resourceNameOf("agent", object), args, { parent: this, dependsOn });
    }
}

/** The DaemonSets of a manifest: what has to get ready. */
export function daemonSetsOf(objects: readonly ManifestObject[], namespace: string): Workloads[] {
    const daemonSets = objects.filter(({ kind }) => kind === "DaemonSet");
    return daemonSets.map(({ metadata }) => ({
        namespace: metadata.namespace ?? namespace,
        includes: ({ name }) => name === metadata.name,
    }));
}
