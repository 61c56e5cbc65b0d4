/** Callers of a Service that would not reach a proxy in its place, as far as the Service and its pods show it. */
import type { V1Service } from "../../../values/kubernetes-types";
import { type Cluster, unlessForbidden } from "../../../cluster/client";
import type { Resource } from "../../../cluster/resources";
import { parseJson } from "../../../values/json";
import type { Pod } from "../../../values/kubernetes-rules";

const beta = "service.beta.kubernetes.io";

/** By these annotations of a Service, a load balancer has its pods as targets. */
const targetsPods: readonly {
    annotation: string;
    /** @default JSON in which `field` has something */
    value?: string;
    field?: string;
    /** The annotation counts only on Services of this type. @default any */
    type?: string;
}[] = [
    // https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/annotations/
    { annotation: `${beta}/aws-load-balancer-nlb-target-type`, value: "ip", type: "LoadBalancer" },
    { annotation: `${beta}/aws-load-balancer-type`, value: "nlb-ip", type: "LoadBalancer" },
    { annotation: "alb.ingress.kubernetes.io/target-type", value: "ip" },
    // GKE puts {"ingress": true} on most Services, which is a wish; the status is there once an Ingress uses it.
    // https://cloud.google.com/kubernetes-engine/docs/how-to/standalone-neg
    { annotation: "cloud.google.com/neg", field: "exposed_ports" },
    { annotation: "cloud.google.com/neg-status", field: "network_endpoint_groups" },
    // The next are of Alibaba Cloud with Terway, and of Tencent Cloud.
    { annotation: `${beta}/backend-type`, value: "eni", type: "LoadBalancer" },
    { annotation: "service.cloud.tencent.com/direct-access", value: "true", type: "LoadBalancer" },
];

/**
 * In these objects, the AWS Load Balancer Controller and EKS Auto Mode note what load balancers have as targets, in the
 * Service's namespace: for its own annotations, and for Ingresses, IngressClassParams and Gateways.
 * https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/targetgroupbinding/targetgroupbinding/
 */
export const bindings = [
    { apiGroup: "elbv2.k8s.aws", version: "v1beta1", resource: "targetgroupbindings", kind: "TargetGroupBinding" },
    { apiGroup: "eks.amazonaws.com", version: "v1", resource: "targetgroupbindings", kind: "TargetGroupBinding" },
] as const satisfies Resource[];

interface TargetGroupBinding {
    metadata: { name: string };
    spec: { serviceRef?: { name: string }; targetType?: string };
}

/** The TargetGroupBinding by which a load balancer has a Service's pods as targets. */
export async function bindingOf(
    cluster: Cluster,
    { namespace, service }: { namespace: string; service: string },
): Promise<string | undefined> {
    const lists = await Promise.all(bindings.map((resource) => unlessForbidden(cluster.all(resource, { namespace }))));
    return (lists.flatMap((list) => list ?? []) as TargetGroupBinding[]).find(
        ({ spec }) => spec.serviceRef?.name === service && spec.targetType === "ip",
    )?.metadata.name;
}

function hasField(json: string | undefined, field: string): boolean {
    const found = (parseJson(json ?? "") as Record<string, object> | null | undefined)?.[field];
    return Object.keys(found ?? {}).length > 0;
}

/**
 * Why a load balancer sends callers directly to the pods of a Service: it would deregister all of them at once, and
 * need up to minutes to register the proxy. The AWS controller names a readiness gate of the pods after their Service,
 * if it may inject one.
 */
export function whyBypassed(
    { metadata, spec }: V1Service,
    pods: readonly Pod[],
    binding: string | undefined,
): string | undefined {
    const { annotations = {}, namespace = "", name = "" } = metadata ?? {};
    const found = targetsPods.find(({ annotation, value, field, type }) => {
        if (type !== undefined && type !== spec!.type) return false;
        const given = annotations[annotation];
        return field === undefined ? given === value : hasField(given, field);
    })?.annotation;
    const short = (text: string) => text.replace(/[^a-z0-9]/gi, "").slice(0, 8);
    const gate = `target-health.elbv2.k8s.aws/k8s-${short(namespace)}-${short(name)}-`;
    const gated = pods.find(({ spec: of }) =>
        of?.readinessGates?.some(({ conditionType }) => conditionType.startsWith(gate)),
    );
    const [mark] = [
        found && `its annotation ${found}`,
        binding && `the TargetGroupBinding ${binding}`,
        gated && `the readiness gate of ${gated.metadata!.name}`,
    ].filter(Boolean);
    return (
        mark &&
        `${mark} shows that a load balancer sends requests directly to its pods: it would have no target until it ` +
            "has registered the proxy"
    );
}

/**
 * Why callers of a Service reach pods of other clusters, past a proxy in its place: Cilium joins Services of one name
 * in all clusters of a mesh. The newer annotation counts if both are there.
 * https://docs.cilium.io/en/stable/network/clustermesh/services/
 */
export function whyInOtherClusters({ metadata }: V1Service): string | undefined {
    const annotation = ["service.cilium.io/global", "io.cilium/global-service"].find(
        (key) => metadata?.annotations?.[key] !== undefined,
    );
    if (annotation === undefined || metadata!.annotations![annotation]!.toLowerCase() !== "true") return undefined;
    return (
        `its annotation ${annotation} shows that Cilium sends its callers to pods of other clusters, too, and these ` +
        "would go past the proxy. Use a blackhole of its pods instead"
    );
}

/** A pod in a service mesh has a certain container or annotation. */
const meshes: readonly { mesh: string; container?: string; annotation?: readonly [string, string] }[] = [
    { mesh: "Istio", container: "istio-proxy" },
    { mesh: "Istio", annotation: ["ambient.istio.io/redirection", "enabled"] },
    { mesh: "Linkerd", container: "linkerd-proxy" },
    { mesh: "Kuma", container: "kuma-sidecar" },
    { mesh: "Consul", container: "consul-dataplane" },
];

/**
 * Why the proxy could not pass requests on to the pods of a Service: they are in a mesh, and it is not. A mesh may
 * require an identity of callers, as Istio does with mTLS mode STRICT. That mode is in objects of the mesh, which are
 * not read, and a connection does not show it: the sidecar accepts it, and resets it at the first byte.
 */
export function whyInMesh(pods: readonly Pod[]): string | undefined {
    for (const { metadata, spec } of pods) {
        const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ name }) => name);
        const found = meshes.find(({ container, annotation: [key, value] = ["", ""] }) =>
            container === undefined ? metadata?.annotations?.[key] === value : containers.includes(container),
        );
        if (found)
            return (
                `its pod ${metadata!.name} is in the service mesh ${found.mesh}, which may accept only callers with ` +
                "a mesh identity, and the proxy has none. Use the mesh's own faults, or a blackhole"
            );
    }
    return undefined;
}
