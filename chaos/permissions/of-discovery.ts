import { resourceOf, workloadKinds } from "../actions/workload";
import type { Right } from "../cluster/resources";
import type { Plan } from "../definition/plan";
import { type AttributeExpression, parseAttributes } from "../targets/attributes";
import { namespacesNamed } from "../targets/discover";
import { attributeOf } from "../targets/rollouts";

/** What it takes to find targets, and to refuse those that no experiment may attack. */
export function rightsToDiscover(plan: Plan): Right[] {
    const { agent, namespace, attacks } = plan;
    const admission = { apiGroup: "admissionregistration.k8s.io", verbs: ["list"] };
    const webhooks = {
        why: "refuse targets that serve admission webhooks",
        without: "targets that serve admission webhooks are not refused",
    };
    return [
        ...(agent ? rightsToAskAgent(agent) : (namespacesNamed(plan) ?? [namespace]).flatMap(rightsToAskApiServer)),
        ...attacks.flatMap(({ target }) => rightsToSeeRollouts(target, namespace)),
        { ...admission, ...webhooks, resource: "validatingwebhookconfigurations" },
        { ...admission, ...webhooks, resource: "mutatingwebhookconfigurations" },
        { ...webhooks, namespace, resource: "services", verbs: ["get"] },
    ];
}

/** On the kinds of workloads that a target names, or on all. */
function rightsToSeeRollouts(target: AttributeExpression, namespace: string): Right[] {
    const keys = parseAttributes(target).flatMap(({ key, negated }) => (negated ? [] : key));
    const named = workloadKinds.filter((kind) => keys.includes(attributeOf(kind)));
    return (named.length > 0 ? named : workloadKinds).map((kind) => ({
        namespace,
        apiGroup: "apps",
        resource: resourceOf(kind),
        verbs: ["get"],
        why: "wait until the targets' rollouts are complete",
        without: "a rollout that goes on may replace a target, and the verdict is INCONCLUSIVE then",
    }));
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
