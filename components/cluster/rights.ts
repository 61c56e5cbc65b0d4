import type { Right } from "../../chaos/index";
import { otherResources, type Resource, resources, rightsIn } from "../../chaos/cluster/resources";
import { gatewayService } from "../shop/gateway";
import type { StackConfiguration } from "../configuration/read";
import type { PlacedObject } from "../manifest/kinds";

const unexplained = "an update that fails does not say why";

const list = (namespace: string | undefined, type: Resource, why: string, without?: string) =>
    rightsIn(namespace)("list", type).to(why, without);

const readiness = (namespace: string, what: string): Right[] => [
    ...rightsIn(namespace)("list", resources.deployment, otherResources.daemonSet, otherResources.statefulSet).to(
        `see whether ${what} is ready`,
    ),
    ...list(namespace, otherResources.event, `say why ${what} is not ready`, unexplained),
];

/**
 * What every update asks of the cluster, also one that changes nothing of the shop and its agent.
 *
 * @param outside what the agent has outside of the stack's namespaces
 */
export function rightsOfUpdate(
    { namespace, agent, install, storage }: StackConfiguration,
    outside: readonly PlacedObject[],
): Right[] {
    const names = ["kube-system", namespace, ...(agent ? [agent.namespace] : [])];
    const isReady = "see whether the shop is ready";
    const rights = [
        ...rightsIn()("get", otherResources.namespace, ...names).to(
            "recognize the cluster, and the stack's own namespaces",
        ),
        ...list(namespace, resources.pod, isReady),
        ...(install.kind === "program"
            ? list(namespace, resources.deployment, isReady)
            : readiness(namespace, "the shop")),
        ...rightsIn(namespace)("get", resources.service, gatewayService.name).to("find the gateway's address"),
        ...outside.flatMap(({ object: { apiVersion, metadata }, namespace: place, path }) => {
            const apiGroup = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
            return rightsIn(place)("get", { apiGroup, resource: path.split("/").at(-2)! }, metadata.name).to(
                "recognize what the stack's agent has outside of the stack's namespaces",
            );
        }),
    ];
    if (agent)
        rights.push(
            ...readiness(agent.namespace, "the agent"),
            ...list(agent.namespace, resources.pod, "say why the agent is not ready, and on which nodes", unexplained),
            ...list(
                undefined,
                otherResources.node,
                "leave out nodes that are not ready",
                "an update waits for the agent on each of them",
            ),
        );
    if (install.kind === "program" && (storage.database ?? storage.broker) !== undefined)
        rights.push(
            ...list(
                undefined,
                otherResources.storageClass,
                "see whether the claims' StorageClass exists",
                "claims of a class that does not exist stay Pending",
            ),
        );
    return rights;
}
