import type { V1DeploymentSpec, V1Node, V1PodDisruptionBudget } from "../../values/kubernetes-types";
import { type Cluster, unlessForbidden, unlessUnlistable } from "../../cluster/client";
import { setterOf } from "../../cluster/field-owners";
import { otherResources, resources } from "../../cluster/resources";
import { endpointsByHand, isAt } from "../../cluster/service-endpoints";
import type { RunAttack } from "../../definition/plan";
import {
    attributeOf,
    type Attributes,
    type Condition,
    matches,
    nodeConditions,
    parseAttributes,
} from "../../targets/attributes";
import { attributesOf } from "../../targets/nodes";
import { kubectlFor } from "../../values/kubectl";

/** What the cluster says of the one Deployment whose pods are attacked. */
export interface Facts {
    name: string;
    spec: V1DeploymentSpec;
    /** Set if an autoscaler has set the number of pods: it would set that again. */
    isScaled?: boolean;
    /** The PodDisruptionBudgets of its namespace. Absent if the account may not list them. */
    budgets?: V1PodDisruptionBudget[];
    /** How many nodes have other values of the labels that the target names, and take pods. Absent if it names none. */
    otherNodes?: number;
    /** The beginning of a command in its namespace. */
    kubectl: string;
}

/** The field manager of the HorizontalPodAutoscalers' controller. The number of pods is all that it sets. */
const autoscaler = "kube-controller-manager";

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
    const { namespace, target, chosen } = attack;
    const [name] = owner.values as [string];
    const conditions = nodeConditions(target);
    try {
        const [deployment, budgets, nodes, endpoints] = await Promise.all([
            unlessForbidden(cluster.get({ resource: resources.deployment, namespace, name })),
            unlessUnlistable(cluster.all(otherResources.disruptionBudget, { namespace })),
            conditions.length > 0 ? cluster.all(otherResources.node) : undefined,
            endpointsByHand(cluster, namespace),
        ]);
        // Somebody else decides when a Service leads to these pods.
        if (endpoints.some((one) => chosen.targets.some((target) => isAt(one, target)))) return undefined;
        const others = nodes?.filter(
            (node) => isOpen(node) && hasOthers(conditions, attributesOf(node.metadata!.labels)),
        );
        const kubectl = kubectlFor(cluster, namespace);
        if (deployment?.spec === undefined) return undefined;
        const isScaled = setterOf(deployment.metadata!, "replicas")?.manager === autoscaler;
        return { name, spec: deployment.spec, isScaled, budgets, otherNodes: others?.length, kubectl };
    } catch {
        return undefined;
    }
}

/** Whether a node takes pods that tolerate no taint. */
const isOpen = ({ spec }: V1Node) =>
    !spec?.unschedulable && !spec?.taints?.some(({ effect }) => effect !== "PreferNoSchedule");

const hasOthers = (conditions: readonly Condition[], attributes: Attributes) =>
    conditions.every(({ key }) => key in attributes) && !matches(conditions, attributes);
