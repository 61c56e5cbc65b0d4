import type { Right } from "../../chaos/index";
import { gatewayService } from "../shop/gateway";
import type { StackConfiguration } from "../configuration/read";

/** What every update asks of the cluster, also one that changes nothing of the shop and its agent. */
export function rightsOfUpdate({ namespace, agent, install, storage }: StackConfiguration): Right[] {
    const own = [namespace, ...(agent ? [agent.namespace] : [])];
    const apps = { apiGroup: "apps", verbs: ["list"] };
    const workloads = [
        { ...apps, resource: "deployments" },
        { ...apps, resource: "daemonsets" },
        { ...apps, resource: "statefulsets" },
    ];
    const readiness = (place: string, what: string): Right[] => [
        ...workloads.map((resource) => ({ ...resource, namespace: place, why: `see whether ${what} is ready` })),
        {
            namespace: place,
            resource: "events",
            verbs: ["list"],
            why: `say why ${what} is not ready`,
            without: "an update that fails does not say why",
        },
    ];
    const shop = { namespace, why: "see whether the shop is ready" };
    return [
        {
            resource: "namespaces",
            names: ["kube-system", ...own],
            verbs: ["get"],
            why: "recognize the cluster, and the stack's own namespaces",
        },
        { ...shop, resource: "pods", verbs: ["list"] },
        ...(install.kind === "program"
            ? [{ ...shop, ...apps, resource: "deployments" }]
            : readiness(namespace, "the shop")),
        { namespace, resource: "services", verbs: ["list"], why: "recognize the shop of a stack that was destroyed" },
        {
            namespace,
            resource: "services",
            names: [gatewayService.name],
            verbs: ["get"],
            why: "find the gateway's address",
        },
        ...(agent
            ? [
                  ...readiness(agent.namespace, "the agent"),
                  {
                      namespace: agent.namespace,
                      resource: "pods",
                      verbs: ["list"],
                      why: "say why the agent is not ready",
                      without: "an update that fails does not say why",
                  },
              ]
            : []),
        ...(install.kind === "program" && (storage.database ?? storage.broker)
            ? [
                  {
                      apiGroup: "storage.k8s.io",
                      resource: "storageclasses",
                      verbs: ["list"],
                      why: "see whether the claims' StorageClass exists",
                      without: "claims of a class that does not exist stay Pending",
                  },
              ]
            : []),
    ];
}
