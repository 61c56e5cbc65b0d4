import type { Right } from "../../../../chaos/cluster/resources";
import { type FakeCluster, type FakeRequest, refuse } from "./fake-cluster";

interface Asked {
    verb: string;
    group: string;
    resource: string;
    namespace?: string;
    name?: string;
}

const groups: Record<string, string> = {
    daemonsets: "apps",
    deployments: "apps",
    replicasets: "apps",
    jobs: "batch",
    leases: "coordination.k8s.io",
    networkpolicies: "networking.k8s.io",
    roles: "rbac.authorization.k8s.io",
    rolebindings: "rbac.authorization.k8s.io",
    mutatingwebhookconfigurations: "admissionregistration.k8s.io",
    validatingwebhookconfigurations: "admissionregistration.k8s.io",
};
const verbs: Record<string, string> = { read: "get", replace: "update", deleteCollection: "deletecollection" };

/** Whether RBAC allows a request to an account with some rights. */
export function allows(rights: readonly Right[], { verb, group, resource, namespace, name }: Asked): boolean {
    return rights.some(
        (right) =>
            right.verbs.includes(verb) &&
            (right.apiGroup ?? "") === group &&
            right.resource === resource &&
            (right.namespace === undefined || right.namespace === namespace) &&
            (right.names === undefined || (name !== undefined && right.names.includes(name))),
    );
}

/** Refuses all calls that some rights do not allow, as RBAC does, and answers questions about them. */
export function limit(cluster: FakeCluster, rights: readonly Right[]): void {
    cluster.rules = [];
    cluster.access = ({ verb = "", group = "", resource = "", subresource, namespace, name }) => ({
        allowed: allows(rights, {
            verb,
            group,
            resource: subresource ? `${resource}/${subresource}` : resource,
            namespace,
            name,
        }),
    });
    cluster.intercept = (call, request) => {
        if (/SelfSubject|WithHttpInfo$/.test(call)) return;
        const asked = askedBy(call, request);
        if (allows(rights, asked)) return;
        const { verb, group, resource, namespace } = asked;
        const place = namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`;
        const right = `cannot ${verb} resource "${resource}" in API group "${group}" ${place}`;
        refuse(403, `${resource} is forbidden: User "ada" ${right}`);
    };
}

function askedBy(call: string, { name, namespace, fieldSelector, group, plural }: FakeRequest): Asked {
    if (call === "readNamespacedPodLog") return { verb: "get", group: "", resource: "pods/log", namespace, name };
    if (call === "connectGetNamespacedPodProxyWithPath")
        return { verb: "get", group: "", resource: "pods/proxy", namespace, name };
    const parts = /^(deleteCollection|[a-z]+)(?:Namespaced)?(\w+?)(?:ForAllNamespaces)?$/.exec(call)!;
    const [kind, method] = [parts[2]!.toLowerCase(), parts[1]!];
    const resource = plural ?? (kind.endsWith("y") ? `${kind.slice(0, -1)}ies` : `${kind}s`);
    // RBAC takes the name of a list from its field selector.
    const selected = /^metadata\.name=(.+)$/.exec(fieldSelector ?? "")?.[1];
    return {
        verb: verbs[method] ?? method,
        group: group ?? groups[resource] ?? "",
        resource,
        namespace: kind === "namespace" ? name : namespace,
        name: name ?? selected,
    };
}
