import { workloadKinds, workloadTypes } from "../cluster/workload";
import { resources, type Right, rightsOn } from "../cluster/resources";
import type { Plan } from "../definition/plan";
import { type AttributeExpression, attributeOf, parseAttributes } from "../targets/attributes";
import { expressionsOf, namespacesNamed } from "../targets/discover";
import { rightsToReadNodes } from "../targets/nodes";

/** What it takes to find targets, and to refuse those that no experiment may attack. */
export function rightsToDiscover(plan: Plan): Right[] {
    const { agent, namespace, attacks } = plan;
    const refuse = "refuse targets that serve admission webhooks";
    const knowEndpoints = "know to which pods, at which ports, Services lead";
    const notRefused = "they are not refused";
    const configurations = ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"].map((resource) =>
        rightsOn({ apiGroup: "admissionregistration.k8s.io", resource })(["list"], refuse, notRefused),
    );
    return [
        ...(agent ? rightsToAskAgent(agent) : (namespacesNamed(plan) ?? [namespace]).flatMap(rightsToAskApiServer)),
        ...rightsToReadNodes(expressionsOf(plan)),
        ...attacks.flatMap(({ target }) => rightsToSeeRollouts(target, namespace)),
        ...configurations,
        rightsOn({ namespace, apiGroup: "discovery.k8s.io", resource: "endpointslices" })(
            ["list"],
            knowEndpoints,
            "the selectors of Services say that, which miss EndpointSlices that are made by hand",
        ),
    ];
}

/** On the kinds of workloads that a target names, or on all. */
function rightsToSeeRollouts(target: AttributeExpression, namespace: string): Right[] {
    const keys = parseAttributes(target).flatMap(({ key, negated }) => (negated ? [] : key));
    const named = workloadKinds.filter((kind) => keys.includes(attributeOf(kind)));
    return (named.length > 0 ? named : workloadKinds).map((kind) =>
        rightsOn({ namespace, ...workloadTypes[kind] })(
            ["get"],
            "wait until the targets' rollouts are complete",
            "a rollout may replace a target, and the verdict is INCONCLUSIVE",
        ),
    );
}

/** A Secret and pods have other names after each installation. */
function rightsToAskAgent({ namespace, name }: NonNullable<Plan["agent"]>): Right[] {
    const daemonSet = { namespace, apiGroup: "apps", resource: "daemonsets", names: [name] };
    return [
        rightsOn({ resource: "namespaces" })(["list"], "find protected namespaces"),
        rightsOn(daemonSet)(["get"], "find the agent"),
        rightsOn({ namespace, resource: "secrets" })(["get"], "read the agent's key"),
        rightsOn({ namespace, ...resources.pod })(["list"], "find the agent's pods"),
        rightsOn({ namespace, resource: "pods/proxy" })(["get"], "ask the agent for targets"),
    ];
}

function rightsToAskApiServer(namespace: string): Right[] {
    const find = "find targets without an agent";
    return [
        rightsOn({ namespace, ...resources.pod })(["list"], find),
        rightsOn({ namespace, ...resources.replicaSet })(["list"], find),
        rightToRead(namespace, "see whether the namespace is protected"),
    ];
}

export const rightToRead = (namespace: string, why: string, without?: string): Right =>
    rightsOn({ namespace, resource: "namespaces", names: [namespace] })(["get"], why, without);
