import type { V1MutatingWebhook, V1ValidatingWebhook } from "@kubernetes/client-node";
import { kubectlFor } from "../kubectl";
import { type Cluster, unlessForbidden } from "../cluster/client";
import { labels } from "../cluster/labels";
import { endpointsIn, isAt } from "../cluster/service-endpoints";
import { resources } from "../cluster/resources";
import { ReasonError } from "../reasons";
import type { TargetRequest } from "./choose";
import { type Discovered, select } from "./containers";

type Webhook = V1ValidatingWebhook | V1MutatingWebhook;

/** What the undoing of an experiment changes or deletes. Replacements of killed pods are created, too. */
const changedByUndoing = [...Object.values(resources), { apiGroup: "coordination.k8s.io", resource: "leases" }];

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
    const served = webhooks.filter(({ clientConfig }) => clientConfig.service?.namespace === namespace);
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
async function requiredWebhooks({ admission }: Cluster): Promise<Webhook[]> {
    const configurations = await Promise.all([
        unlessForbidden(admission.listValidatingWebhookConfiguration()),
        unlessForbidden(admission.listMutatingWebhookConfiguration()),
    ]);
    return configurations
        .flatMap((found) => found?.items ?? [])
        .flatMap((configuration): Webhook[] => configuration.webhooks ?? [])
        .filter((webhook) => (webhook.failurePolicy ?? "Fail") === "Fail" && concernsUndoing(webhook));
}

function concernsUndoing({ rules = [] }: Webhook): boolean {
    return rules.some(({ apiGroups = [], resources: concerned = [] }) => {
        const names = concerned.map((resource) => resource.replace(/\/\*$/, ""));
        return changedByUndoing.some(
            ({ apiGroup, resource }) =>
                (apiGroups.includes("*") || apiGroups.includes(apiGroup)) &&
                (names.includes("*") || names.includes(resource)),
        );
    });
}
