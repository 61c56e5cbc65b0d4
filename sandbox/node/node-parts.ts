import { locateParts, type PartLocations } from "../parts/locate";

/** The node's built programs and images. Debian's programs (etcd, containerd, runc, CNI) are on PATH. */
export type NodeParts = Pick<PartLocations, "kube" | "kubeRouter" | "images">;

/** The image of the process that holds a pod's namespaces. */
export const pauseImage = "registry.k8s.io/pause:3.10";

/** The cluster's name server. */
export const coreDnsImage = "registry.k8s.io/coredns/coredns:v1.14.3";

/** They exist after `ensureParts(clusterParts)`. */
export function nodeParts(): NodeParts {
    return locateParts();
}
