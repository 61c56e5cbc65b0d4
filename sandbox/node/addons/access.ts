import type { KubernetesObject } from "../api";
import { currentNetwork } from "../networks/registry";

const read = ["get", "list", "watch"];

/** The permissions of identities without a built-in binding in Kubernetes. */
export function accessObjects(): KubernetesObject[] {
    return [
        ...userRole("sandbox:network-policy", [
            {
                apiGroups: [""],
                resources: ["namespaces", "pods", "services", "nodes", "endpoints", "serviceaccounts"],
                verbs: read,
            },
            { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: read },
            { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: read },
            ...currentNetwork().rights,
        ]),
        ...userRole("sandbox:controller", [
            { apiGroups: [""], resources: ["services"], verbs: read },
            { apiGroups: [""], resources: ["services/status"], verbs: ["patch"] },
            { apiGroups: [""], resources: ["persistentvolumes"], verbs: [...read, "patch"] },
        ]),
        // The API server's identity toward the kubelet, for logs, exec and port-forward.
        binding("sandbox:apiserver-to-kubelet", "system:kubelet-api-admin", {
            kind: "User",
            name: "kube-apiserver-kubelet-client",
        }),
    ];
}

const userRole = (name: string, rules: readonly object[]) => role(name, { kind: "User", name }, rules);

export function role(name: string, subject: object, rules: readonly object[]): KubernetesObject[] {
    return [
        { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, rules },
        binding(name, name, subject),
    ];
}

function binding(name: string, role: string, subject: object): KubernetesObject {
    return {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
        subjects: [subject],
    };
}
