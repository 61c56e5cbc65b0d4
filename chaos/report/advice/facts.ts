import type { V1DeploymentSpec, V1PodDisruptionBudget } from "../../values/kubernetes-types";
import { type Cluster, unlessForbidden, unlessUnlistable } from "../../cluster/client";
import { otherResources, resources } from "../../cluster/resources";
import type { RunAttack } from "../../definition/plan";
import { attributeOf, nodeConditions, parseAttributes } from "../../targets/attributes";
import { namesOfNodes, nodesFor } from "../../targets/nodes";
import { kubectlFor } from "../../values/kubectl";

/** What the cluster says of the one Deployment whose pods are attacked. */
export interface Facts {
    name: string;
    spec: V1DeploymentSpec;
    /** The PodDisruptionBudgets of its namespace. Absent if the account may not list them. */
    budgets?: V1PodDisruptionBudget[];
    /** How many nodes have other values of the labels that the target names. Absent if it names none. */
    otherNodes?: number;
    /** The beginning of a command in its namespace. */
    kubectl: string;
}

/**
 * Reads what advice rests on, with rights that a run has for something else. Of several attacks or workloads, it would
 * not be known which one made the checks fail, so nothing is read of these.
 *
 * @returns undefined if not exactly one Deployment is attacked, or it cannot be read. Never rejects
 */
export async function factsOf(cluster: Cluster, attacks: readonly RunAttack[]): Promise<Facts | undefined> {
    const owners = attacks.flatMap(({ chosen }) => chosen.workloads ?? []);
    const [attack] = attacks;
    if (attack === undefined || attacks.length > 1 || owners.length !== 1) return undefined;
    const owner = parseAttributes(owners[0]!).find(({ key }) => key === attributeOf("Deployment"));
    if (owner === undefined) return undefined;
    const { namespace, target } = attack;
    const [name] = owner.values as [string];
    try {
        const [deployment, budgets, nodes] = await Promise.all([
            unlessForbidden(cluster.get({ resource: resources.deployment, namespace, name })),
            unlessUnlistable(cluster.all(otherResources.disruptionBudget, { namespace })),
            nodesFor(cluster, [target]),
        ]);
        const keys = nodeConditions(target).map(({ key }) => key);
        const labelled = nodes && [...nodes].filter(([, attributes]) => keys.every((key) => key in attributes));
        const otherNodes = labelled && labelled.length - namesOfNodes(new Map(labelled), target).length;
        const kubectl = kubectlFor(cluster, namespace);
        return deployment?.spec && { name, spec: deployment.spec, budgets, otherNodes, kubectl };
    } catch {
        return undefined;
    }
}
