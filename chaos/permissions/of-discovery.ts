import type { Right } from "../cluster/rights";
import type { Plan } from "../definition/plan";

/** What it takes to find targets, and to refuse those that no experiment may attack. */
export function rightsToDiscover({ agent, namespace }: Plan): Right[] {
    const admission = { apiGroup: "admissionregistration.k8s.io", verbs: ["list"] };
    const webhooks = {
        why: "refuse targets that serve admission webhooks",
        without: "targets that serve admission webhooks are not refused",
    };
    return [
        { resource: "namespaces", verbs: ["list"], why: "find protected namespaces" },
        ...(agent ? rightsToAskAgent(agent) : rightsToAskApiServer),
        { ...admission, ...webhooks, resource: "validatingwebhookconfigurations" },
        { ...admission, ...webhooks, resource: "mutatingwebhookconfigurations" },
        { ...webhooks, namespace, resource: "services", verbs: ["get"] },
    ];
}

/** A Secret and pods have other names after each installation. */
function rightsToAskAgent({ namespace, name }: NonNullable<Plan["agent"]>): Right[] {
    return [
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

const rightsToAskApiServer: Right[] = [
    { resource: "pods", verbs: ["list"], why: "find targets without an agent" },
    { apiGroup: "apps", resource: "replicasets", verbs: ["list"], why: "find targets without an agent" },
];
