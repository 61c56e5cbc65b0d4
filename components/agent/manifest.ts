import * as pulumi from "@pulumi/pulumi";
import { labels } from "../../shared/labels";
import { holdsKey, type ManifestObject } from "./readManifest";
import type { AgentWorkloads } from "./ready";

export interface ManifestAgentArgs {
    /** For objects that name no namespace; all others come after it, too. */
    namespace: pulumi.Input<string>;
    objects: readonly ManifestObject[];
    /** Whatever holds it is kept as a secret. */
    key: string;
}

/** Kinds that belong to no namespace, of those that an agent's manifest may hold. */
const clusterWide = ["Namespace", "ClusterRole", "ClusterRoleBinding", "PriorityClass", "CustomResourceDefinition", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];

/** The objects of an agent's manifest, each a resource of the stack. */
export class ManifestAgent extends pulumi.ComponentResource {
    /** Known once all objects are there. */
    readonly ids: pulumi.Output<string[]>;

    constructor(name: string, { namespace, objects, key }: ManifestAgentArgs, opts?: pulumi.ComponentResourceOptions) {
        super("chaos-shop:agent:ManifestAgent", name, {}, opts);
        const namespaces = objects.filter(({ kind }) => kind === "Namespace").map((object) => this.make(object, key));
        const others = objects.filter(({ kind }) => kind !== "Namespace").map((object) => this.make(object, key, namespaces, namespace));
        this.ids = pulumi.all([...namespaces, ...others].map(({ id }) => id));
        this.registerOutputs({});
    }

    private make(object: ManifestObject, key: string, dependsOn: pulumi.Resource[] = [], namespace?: pulumi.Input<string>): pulumi.CustomResource {
        const { kind, metadata } = object;
        const annotations = { ...keptSecret(metadata.annotations, (value) => holdsKey(value, key)), "pulumi.com/skipAwait": "true" };
        // Never empty ones: of a Secret the provider would take those for a change, in each update.
        const marked = kind === "Namespace" ? { ...metadata.labels, [labels.protected]: "true" } : metadata.labels;
        // After the agent's own namespace, also where the object names that itself.
        const placed = clusterWide.includes(kind) ? undefined : pulumi.output(namespace).apply((own) => metadata.namespace ?? own);
        const { apiVersion, kind: _, metadata: __, ...fields } = object;
        const args = {
            apiVersion,
            kind,
            metadata: { ...metadata, namespace: placed, annotations, labels: marked },
            ...keptSecret(fields, (value) => kind === "Secret" || holdsKey(value, key)),
        };
        const resourceName = ["agent", kind.toLowerCase(), metadata.namespace, metadata.name].filter(Boolean).join("-");
        return new DeclaredObject(typeOf(object), resourceName, args, { parent: this, dependsOn });
    }
}

/** An object of any kind. The class for those of custom kinds does not know the core group's types. */
class DeclaredObject extends pulumi.CustomResource {}

/** The provider's name for an object's type; of those without a group it is `kubernetes:core/v1:Secret`. */
function typeOf({ apiVersion, kind }: ManifestObject): string {
    return `kubernetes:${apiVersion.includes("/") ? apiVersion : `core/${apiVersion}`}:${kind}`;
}

/** The DaemonSets of a manifest: what has to get ready. */
export function daemonSetsOf(objects: readonly ManifestObject[], namespace: string): AgentWorkloads[] {
    const daemonSets = objects.filter(({ kind }) => kind === "DaemonSet");
    return daemonSets.map(({ metadata }) => ({ namespace: metadata.namespace ?? namespace, includes: ({ name }) => name === metadata.name }));
}

/** The same fields, those that a test tells as secrets to the engine. */
function keptSecret(fields: Record<string, unknown> = {}, isSecret: (value: unknown) => boolean): Record<string, pulumi.Input<unknown>> {
    return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, isSecret(value) ? pulumi.secret(value) : value]));
}
