import type { Right } from "../../chaos/index";
import { gatewayService } from "../shop/gateway";
import type { StackConfiguration } from "../configuration/read";
import type { PlacedObject } from "../manifest/kinds";

/**
 * What every update asks of the cluster, also one that changes nothing of the shop and its agent.
 *
 * @param outside what the agent has outside of the stack's namespaces
 */
export function rightsOfUpdate(
    { namespace, agent, install, storage }: StackConfiguration,
    outside: readonly PlacedObject[],
): Right[] {
    const list = (place: string | undefined, resource: string, why: string, rest: Partial<Right> = {}): Right => ({
        ...(place !== undefined && { namespace: place }),
        resource,
        verbs: ["list"],
        why,
        ...rest,
    });
    const apps = { apiGroup: "apps" };
    const unexplained = { without: "an update that fails does not say why" };
    const readiness = (place: string, what: string) => [
        ...["deployments", "daemonsets", "statefulsets"].map((resource) =>
            list(place, resource, `see whether ${what} is ready`, apps),
        ),
        list(place, "events", `say why ${what} is not ready`, unexplained),
    ];
    const isReady = "see whether the shop is ready";
    const hasClaims = install.kind === "program" && (storage.database ?? storage.broker) !== undefined;
    return [
        {
            resource: "namespaces",
            names: ["kube-system", namespace, ...(agent ? [agent.namespace] : [])],
            verbs: ["get"],
            why: "recognize the cluster, and the stack's own namespaces",
        },
        list(namespace, "pods", isReady),
        ...(install.kind === "program"
            ? [list(namespace, "deployments", isReady, apps)]
            : readiness(namespace, "the shop")),
        {
            namespace,
            resource: "services",
            names: [gatewayService.name],
            verbs: ["get"],
            why: "find the gateway's address",
        },
        ...outside.map(({ object: { apiVersion, metadata }, namespace: place, path }): Right => {
            const [apiGroup] = apiVersion.includes("/") ? apiVersion.split("/") : [];
            return {
                ...(place !== undefined && { namespace: place }),
                ...(apiGroup !== undefined && { apiGroup }),
                resource: path.split("/").at(-2)!,
                names: [metadata.name],
                verbs: ["get"],
                why: "recognize what the stack's agent has outside of the stack's namespaces",
            };
        }),
        ...(agent
            ? [
                  ...readiness(agent.namespace, "the agent"),
                  list(agent.namespace, "pods", "say why the agent is not ready, and on which nodes", unexplained),
                  list(undefined, "nodes", "leave out nodes that are not ready", {
                      without: "an update waits for the agent on each of them",
                  }),
              ]
            : []),
        ...(hasClaims
            ? [
                  list(undefined, "storageclasses", "see whether the claims' StorageClass exists", {
                      apiGroup: "storage.k8s.io",
                      without: "claims of a class that does not exist stay Pending",
                  }),
              ]
            : []),
    ];
}
