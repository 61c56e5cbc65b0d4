import { restrictedPod, users } from "./pod-security";

/** A toleration, as in a pod. The API server says which are allowed. */
export interface Toleration {
    key?: string;
    operator?: string;
    value?: string;
    effect?: string;
    tolerationSeconds?: number;
}

/** What is set on a run's own pods, the deadline Job's and the proxies of faults, beside what they have anyway. */
export interface PodOptions {
    /** Names of Secrets in the targets' namespace, to pull `image` with. */
    imagePullSecrets?: string[];
    /** Labels of the nodes that they may run on, beside `kubernetes.io/os: linux`. */
    nodeSelector?: Record<string, string>;
    /** Tolerations, beside those that make them leave a lost node at once. */
    tolerations?: Toleration[];
    /** Name of a PriorityClass: with a high one, other pods do not preempt them. @default the cluster's */
    priorityClassName?: string;
    /** Labels, such as an admission policy requires. */
    labels?: Record<string, string>;
    /** Annotations. */
    annotations?: Record<string, string>;
    /** Id of user and group. `false`: none is set, for clusters that assign them, such as OpenShift. @default 1000 */
    runAsUser?: number | false;
}

/**
 * What the pods of a run have in common.
 *
 * They are in no service mesh: the witness would connect to the mesh's proxy and not to the targets, and the deadline
 * Job would never complete, because a sidecar goes on running. By their documentation, Istio and Kuma read labels,
 * Linkerd and Consul annotations.
 *
 * No autoscaler moves them to make room on a node, because meanwhile nothing would end the attacks.
 */
export const runPods = {
    labels: {
        "sidecar.istio.io/inject": "false",
        "istio.io/dataplane-mode": "none",
        "kuma.io/sidecar-injection": "disabled",
    },
    annotations: {
        "linkerd.io/inject": "disabled",
        "consul.hashicorp.com/connect-inject": "false",
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
        "karpenter.sh/do-not-disrupt": "true",
    },
    nodeSelector: { "kubernetes.io/os": "linux" },
};

/** The metadata and spec of all pods of a run. @param own tolerations of the pod */
export function runPod(options: PodOptions = {}, own: readonly Toleration[] = []) {
    const { imagePullSecrets, nodeSelector, priorityClassName, runAsUser = users.node } = options;
    const tolerations = [...own, ...(options.tolerations ?? [])];
    return {
        labels: { ...options.labels, ...runPods.labels },
        annotations: { ...options.annotations, ...runPods.annotations },
        spec: {
            nodeSelector: { ...runPods.nodeSelector, ...nodeSelector },
            securityContext: restrictedPod(runAsUser),
            ...(tolerations.length > 0 && { tolerations }),
            ...(imagePullSecrets && { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
            ...(priorityClassName !== undefined && { priorityClassName }),
        },
    };
}
