import type { Right } from "../../chaos/index";
import { clusterWide } from "../agent/builtin";
import { gatewayService } from "../shop/gateway";
import type { StackConfiguration } from "../configuration/read";

/** What every update asks of the cluster, also one that changes nothing of the shop and its agent. */
export function rightsOfUpdate({ namespace, agent, install, storage }: StackConfiguration): Right[] {
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
        ...(agent?.install === "builtin"
            ? clusterWide(namespace).map(({ object: { kind, metadata } }): Right => ({
                  apiGroup: "rbac.authorization.k8s.io",
                  resource: `${kind.toLowerCase()}s`,
                  names: [metadata.name],
                  verbs: ["get"],
                  why: "recognize what the stack's agent has in the whole cluster",
              }))
            : []),
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
