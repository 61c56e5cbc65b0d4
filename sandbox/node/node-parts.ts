import { locateParts, type PartLocations } from "../parts/locate";

/** The built programs and images that the node runs; what Debian delivers (etcd, containerd, runc, CNI) is on PATH. */
export type NodeParts = Pick<PartLocations, "kube" | "kubeRouter" | "images">;

/** The image that holds a pod's namespaces. */
export const pauseImage = "registry.k8s.io/pause:3.10";

/** The cluster's name server. */
export const coreDnsImage = "registry.k8s.io/coredns/coredns:v1.14.3";

/** Where the node's programs and images are; `ensureParts("cluster")` sees to it that they are there. */
export function nodeParts(): NodeParts {
    return locateParts();
}
