import type { Right } from "../cluster/rights";
import type { Plan } from "../definition/plan";
import { namespacesNamed } from "../targets/discover";

/** What it takes to find targets, and to refuse those that no experiment may attack. */
export function rightsToDiscover(plan: Plan): Right[] {
    const { agent, namespace } = plan;
    const admission = { apiGroup: "admissionregistration.k8s.io", verbs: ["list"] };
    const webhooks = {
        why: "refuse targets that serve admission webhooks",
        without: "targets that serve admission webhooks are not refused",
    };
    return [
        ...(agent ? rightsToAskAgent(agent) : (namespacesNamed(plan) ?? [namespace]).flatMap(rightsToAskApiServer)),
        { ...admission, ...webhooks, resource: "validatingwebhookconfigurations" },
        { ...admission, ...webhooks, resource: "mutatingwebhookconfigurations" },
        { ...webhooks, namespace, resource: "services", verbs: ["get"] },
    ];
}

/** A Secret and pods have other names after each installation. */
function rightsToAskAgent({ namespace, name }: NonNullable<Plan["agent"]>): Right[] {
    return [
        { resource: "namespaces", verbs: ["list"], why: "find protected namespaces" },
        {
            namespace,
            apiGroup: "apps",
            resource: "daemonsets",
            names: [name],
            verbs: ["get"],
            why: "find the agent",
        },
        { namespace, resource: "secrets", verbs: ["get"], why: "read the agent's key" },
        { namespace, resource: "pods", verbs: ["list"], why: "find the agent's pods" },
        { namespace, resource: "pods/proxy", verbs: ["get"], why: "ask the agent for targets" },
    ];
}

function rightsToAskApiServer(namespace: string): Right[] {
    const why = "find targets without an agent";
    return [
        { namespace, resource: "pods", verbs: ["list"], why },
        { namespace, apiGroup: "apps", resource: "replicasets", verbs: ["list"], why },
        {
            namespace,
            resource: "namespaces",
            names: [namespace],
            verbs: ["get"],
            why: "see whether the namespace is protected",
        },
    ];
}
