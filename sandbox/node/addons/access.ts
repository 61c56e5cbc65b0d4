import type { KubernetesObject } from "../api";

const read = ["get", "list", "watch"];

/** The permissions of identities without a built-in binding in Kubernetes. */
export function accessObjects(): KubernetesObject[] {
    return [
        ...userRole("sandbox:network-policy", [
            { apiGroups: [""], resources: ["namespaces", "pods", "services", "nodes", "endpoints"], verbs: read },
            { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: read },
            { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: read },
        ]),
        ...userRole("sandbox:controller", [
            { apiGroups: [""], resources: ["services"], verbs: read },
            { apiGroups: [""], resources: ["services/status"], verbs: ["patch"] },
            { apiGroups: [""], resources: ["persistentvolumes"], verbs: [...read, "patch"] },
        ]),
        // The API server's identity toward the kubelet, for logs, exec and port-forward.
        binding("sandbox:apiserver-to-kubelet", "system:kubelet-api-admin", "kube-apiserver-kubelet-client"),
    ];
}

function userRole(user: string, rules: readonly object[]): KubernetesObject[] {
    return [
        { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: user }, rules },
        binding(user, user, user),
    ];
}

function binding(name: string, role: string, user: string): KubernetesObject {
    return {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
    };
}
