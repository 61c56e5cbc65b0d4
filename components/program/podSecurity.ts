/**
 * What the `restricted` Pod Security level asks of a pod and of its containers (Kubernetes' Pod Security Standards),
 * and a read-only root file system on top.
 */
export function restrictedPod(user: number) {
    return {
        runAsNonRoot: true,
        runAsUser: user,
        runAsGroup: user,
        fsGroup: user,
        seccompProfile: { type: "RuntimeDefault" },
    };
}

export const restrictedContainer = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    readOnlyRootFilesystem: true,
};

/** Labels of a namespace whose pods are admitted only at the `restricted` level. */
export const restrictedNamespaceLabels = {
    "pod-security.kubernetes.io/enforce": "restricted",
    "pod-security.kubernetes.io/warn": "restricted",
};

/** The users that the official images come with. */
export const users = { node: 1000, postgres: 999, nats: 1000 } as const;
