import type { V1ResourceRule } from "../values/kubernetes-types";
import { type Cluster, unlessForbidden } from "../cluster/client";
import { isRequired, otherResources, type Right } from "../cluster/resources";
import { type Grant, grantsOf } from "./permissions";

/**
 * The required rights that the account lacks, each verb by itself. None if the API server does not answer such
 * questions (403, 404).
 *
 * One SelfSubjectRulesReview for each namespace says what the account may do there. Kubernetes documents that such a
 * list may be incomplete, and that what is in it is certain. So each right that is not in it, and each for the whole
 * cluster, is asked for by a SelfSubjectAccessReview. With all rights these are about four calls at once instead of 50,
 * each of which would open a connection.
 */
export async function missingRights(cluster: Cluster, rights: readonly Right[]): Promise<Right[]> {
    const asked = grantsOf(rights.filter(isRequired));
    const namespaces = [...new Set(asked.map(({ namespace }) => namespace))];
    const missing = await Promise.all(
        namespaces.map(async (namespace) => {
            const rules = namespace === undefined ? [] : await rulesIn(cluster, namespace);
            const open = asked.filter((one) => one.namespace === namespace && !rules.some((rule) => grants(rule, one)));
            const allowed = await Promise.all(open.map((one) => mayBeAllowed(cluster, one)));
            return open.filter((_, index) => !allowed[index]);
        }),
    );
    return missing.flat().map(({ verb, name, ...right }) => ({
        ...right,
        verbs: [verb],
        ...(name !== undefined && { names: [name] }),
    }));
}

/** Rights as they are told: `list pods in namespace demo`. */
export function describeRight({ namespace, apiGroup, resource, names, verbs }: Right): string {
    const place = namespace === undefined ? "in the whole cluster" : `in namespace ${namespace}`;
    const [plural, subresource] = resource.split("/");
    const kind = `${plural}${apiGroup ? `.${apiGroup}` : ""}${subresource ? `/${subresource}` : ""}`;
    return `${verbs.join(", ")} ${kind}${names ? ` ${names.join(", ")}` : ""} ${place}`;
}

async function rulesIn(cluster: Cluster, namespace: string): Promise<V1ResourceRule[]> {
    const asked = cluster.create({ resource: otherResources.rulesReview }, { spec: { namespace } });
    return (await unlessForbidden(asked))?.status?.resourceRules ?? [];
}

function grants({ apiGroups = [], resources = [], resourceNames = [], verbs }: V1ResourceRule, asked: Grant): boolean {
    const { apiGroup = "", resource, verb, name } = asked;
    const has = (list: readonly string[], item: string) => list.includes("*") || list.includes(item);
    const subresource = /\/.*/.exec(resource)?.[0];
    return (
        has(verbs, verb) &&
        has(apiGroups, apiGroup) &&
        (has(resources, resource) || (subresource !== undefined && resources.includes(`*${subresource}`))) &&
        (resourceNames.length === 0 || (name !== undefined && has(resourceNames, name)))
    );
}

/** Whether the account has rights for sure: what it lacks it cannot grant. */
export async function areAllowed(cluster: Cluster, rights: readonly Right[]): Promise<boolean> {
    const answers = await Promise.all(grantsOf(rights).map((one) => accessTo(cluster, one)));
    return answers.every((status) => status?.allowed === true);
}

/** False only if the API server says so: an authorizer that failed has not. */
async function mayBeAllowed(cluster: Cluster, asked: Grant): Promise<boolean> {
    const { allowed = true, evaluationError } = (await accessTo(cluster, asked)) ?? {};
    return allowed || Boolean(evaluationError);
}

async function accessTo(cluster: Cluster, asked: Grant) {
    const { namespace, apiGroup: group, verb, name } = asked;
    const [resource, subresource] = asked.resource.split("/");
    const resourceAttributes = { namespace, group, resource, subresource, verb, name };
    const review = await unlessForbidden(
        cluster.create({ resource: otherResources.accessReview }, { spec: { resourceAttributes } }),
    );
    return review?.status;
}
