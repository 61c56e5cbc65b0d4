/**
 * What the `restricted` level of the Pod Security Standards requires of a pod and its containers, and a read-only root
 * file system.
 *
 * @param user id of the user and the group, or false for those that the cluster or the image sets
 */
export function restrictedPod(user: number | false) {
    return {
        runAsNonRoot: true,
        ...(user !== false && { runAsUser: user, runAsGroup: user, fsGroup: user }),
        seccompProfile: { type: "RuntimeDefault" },
    };
}

export const restrictedContainer = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    readOnlyRootFilesystem: true,
};

/** Labels of a namespace that admits only pods of the `restricted` level. */
export const restrictedNamespaceLabels = {
    "pod-security.kubernetes.io/enforce": "restricted",
    "pod-security.kubernetes.io/warn": "restricted",
};

/** Ids of the users in the official images. */
export const users = { node: 1000, postgres: 999, nats: 1000 } as const;

/** The image of the package's own pods and of the shop's programs, unless a user names another: Node 20 or newer. */
export const nodeImage = "docker.io/library/node:22.23.3-bookworm-slim";
