import type {
    V1LabelSelector,
    V1MutatingWebhook,
    V1Pod,
    V1RuleWithOperations,
    V1ValidatingWebhook,
} from "../values/kubernetes-types";
import { kubectlFor } from "../values/kubectl";
import { type Cluster, unlessForbidden } from "../cluster/client";
import { selects } from "../cluster/label-selector";
import { labels } from "../cluster/labels";
import { endpointsIn, isAt } from "../cluster/service-endpoints";
import { otherResources, resources } from "../cluster/resources";
import { ReasonError } from "../values/reasons";
import type { TargetRequest } from "./choose";
import { type Discovered, select } from "./containers";

type Webhook = V1ValidatingWebhook | V1MutatingWebhook;

/** What the undoing of an experiment changes or deletes. */
const changedByUndoing = [...Object.values(resources), { apiGroup: "coordination.k8s.io", resource: "leases" }];

/** How the labels begin that a run gives to pods. */
const ownLabels = `${labels.target.split("/")[0]}/`;

/**
 * Refuses targets that serve an admission webhook which the API server must ask before it undoes the attack: with
 * `failurePolicy: Fail` it rejects the undoing while the webhook does not answer. Accounts that may not read webhook
 * configurations are not checked.
 *
 * @throws ReasonError that names the webhook
 */
export async function refuseWebhookServers(
    cluster: Cluster,
    { attacks, namespace }: { attacks: readonly Pick<TargetRequest, "target">[]; namespace: string },
    discovered: readonly Discovered[],
): Promise<void> {
    const webhooks = await requiredWebhooks(cluster);
    const inNamespace = webhooks.filter(({ clientConfig }) => clientConfig.service?.namespace === namespace);
    const served = await selecting(cluster, namespace, inNamespace);
    for (const { name, clientConfig } of served) {
        const service = clientConfig.service!.name;
        const endpoints = await endpointsIn(cluster, namespace, service);
        const serves = (container: Discovered) => endpoints.some((one) => isAt(one, container));
        for (const { target } of attacks) {
            const pod = select(discovered, target).find(serves)?.pod;
            if (pod === undefined) continue;
            throw new ReasonError(
                "attack-refused",
                `${pod}, which matches ${target}, serves the admission webhook ${name} through Service ${service}. ` +
                    "Its failurePolicy is Fail: under attack the API server could reject the undoing of the attack",
                `Choose a target that excludes it, or protect it: ${kubectlFor(cluster, namespace)} label pod ` +
                    `${pod} ${labels.protected}=true`,
            );
        }
    }
}

/** The webhooks without which the API server rejects what undoing does. */
async function requiredWebhooks(cluster: Cluster): Promise<Webhook[]> {
    const configurations = await Promise.all([
        unlessForbidden(cluster.all(otherResources.validatingWebhooks)),
        unlessForbidden(cluster.all(otherResources.mutatingWebhooks)),
    ]);
    return configurations
        .flatMap((found): { webhooks?: Webhook[] }[] => found ?? [])
        .flatMap((configuration) => configuration.webhooks ?? [])
        .filter((webhook) => (webhook.failurePolicy ?? "Fail") === "Fail" && concernsUndoing(webhook));
}

/**
 * Those webhooks that select something of a namespace. All of them to an account that may not look. The run's own pods
 * are seen only once they are there, before anybody is attacked.
 */
async function selecting(cluster: Cluster, namespace: string, webhooks: readonly Webhook[]): Promise<Webhook[]> {
    if (webhooks.length === 0) return [];
    const [place, pods] = await Promise.all([
        unlessForbidden(cluster.read({ resource: otherResources.namespace, name: namespace })),
        unlessForbidden(cluster.all(resources.pod, { namespace })),
    ]);
    const isSelected = (selector: V1LabelSelector | undefined, { metadata }: Pick<V1Pod, "metadata">) =>
        selects(selector, metadata?.labels ?? {});
    return webhooks.filter((webhook) => {
        const { namespaceSelector, objectSelector } = webhook;
        if (place !== undefined && !isSelected(namespaceSelector, place)) return false;
        // The run gives labels of its own to pods, and to objects of other types that are not there yet.
        const isOfPods = concernedBy(webhook).every((type) => type === resources.pod);
        if (pods === undefined || !isOfPods || JSON.stringify(objectSelector ?? {}).includes(ownLabels)) return true;
        return pods.some((pod) => isSelected(objectSelector, pod));
    });
}

const concernsUndoing = (webhook: Webhook): boolean => concernedBy(webhook).length > 0;

/** Of what undoing changes or deletes, that of which a webhook is asked. */
const concernedBy = ({ rules = [] }: Webhook) =>
    changedByUndoing.filter((type) => rules.some((rule) => concerns(rule, type)));

function concerns(
    { apiGroups = [], resources: concerned = [], operations = ["*"], scope }: V1RuleWithOperations,
    type: (typeof changedByUndoing)[number],
): boolean {
    const names = concerned.map((resource) => resource.replace(/\/\*$/, ""));
    const done = ["*", "UPDATE", "DELETE", ...(isReplaced(type) ? ["CREATE"] : [])];
    return (
        scope !== "Cluster" &&
        (apiGroups.includes("*") || apiGroups.includes(type.apiGroup)) &&
        (names.includes("*") || names.includes(type.resource)) &&
        operations.some((operation) => done.includes(operation))
    );
}

/** Controllers replace killed pods and the Job's, and may make a ReplicaSet for a Deployment that is restored. */
const isReplaced = ({ resource }: { resource: string }): boolean =>
    resource === resources.pod.resource || resource === resources.replicaSet.resource;
