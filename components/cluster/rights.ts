import type { Right } from "../../chaos/index";
import { otherResources, type Resource, resources, rightsOn } from "../../chaos/cluster/resources";
import { gatewayService } from "../shop/gateway";
import type { StackConfiguration } from "../configuration/read";
import type { PlacedObject } from "../manifest/kinds";

const unexplained = "an update that fails does not say why";

const list = (namespace: string | undefined, type: Resource, why: string, without?: string) =>
    rightsOn({ ...type, namespace })(["list"], why, without);

const readiness = (namespace: string, what: string): Right[] => [
    ...[resources.deployment, otherResources.daemonSet, otherResources.statefulSet].map((type) =>
        list(namespace, type, `see whether ${what} is ready`),
    ),
    list(namespace, otherResources.event, `say why ${what} is not ready`, unexplained),
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
        rightsOn({ ...otherResources.namespace, names })(
            ["get"],
            "recognize the cluster, and the stack's own namespaces",
        ),
        list(namespace, resources.pod, isReady),
        ...(install.kind === "program"
            ? [list(namespace, resources.deployment, isReady)]
            : readiness(namespace, "the shop")),
        rightsOn({ ...resources.service, namespace, names: [gatewayService.name] })(
            ["get"],
            "find the gateway's address",
        ),
        ...outside.map(({ object: { apiVersion, metadata }, namespace: place, path }) =>
            rightsOn({
                namespace: place,
                apiGroup: apiVersion.includes("/") ? apiVersion.split("/")[0] : "",
                resource: path.split("/").at(-2)!,
                names: [metadata.name],
            })(["get"], "recognize what the stack's agent has outside of the stack's namespaces"),
        ),
    ];
    if (agent)
        rights.push(
            ...readiness(agent.namespace, "the agent"),
            list(agent.namespace, resources.pod, "say why the agent is not ready, and on which nodes", unexplained),
            list(
                undefined,
                otherResources.node,
                "leave out nodes that are not ready",
                "an update waits for the agent on each of them",
            ),
        );
    if (install.kind === "program" && (storage.database ?? storage.broker) !== undefined)
        rights.push(
            list(
                undefined,
                otherResources.storageClass,
                "see whether the claims' StorageClass exists",
                "claims of a class that does not exist stay Pending",
            ),
        );
    return rights;
}
