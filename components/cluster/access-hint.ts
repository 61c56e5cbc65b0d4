import type { AllowedContext } from "../../chaos/cluster/guard";

/**
 * How to reach a gateway that has no external address, with the command for this kind of cluster.
 *
 * @param serviceType the type of the gateway's Service
 */
export function accessHint(
    { name, local }: Pick<AllowedContext, "name" | "local">,
    namespace: string,
    serviceType: string,
): string {
    const forward =
        `kubectl --context ${name} --namespace ${namespace} port-forward service/gateway 8080:80, ` +
        "then http://127.0.0.1:8080/products";
    if (serviceType !== "LoadBalancer")
        return `no external address, since gateway.serviceType is ${serviceType}; reach it with: ${forward}`;
    switch (local) {
        case "minikube":
            return (
                `no external address until you run: minikube tunnel --profile ${name}, then \`pulumi up\`; ` +
                `or without a tunnel: ${forward}`
            );
        case "kind":
            return `no external address: kind assigns one only if cloud-provider-kind runs; reach it with: ${forward}`;
        case "k3d":
        case "Docker Desktop":
        case "Rancher Desktop":
            return (
                `no external address: ${local} assigns one if port 80 is free; another Service may use it; ` +
                `reach it with: ${forward}`
            );
        default:
            return `no external address yet; \`pulumi up\` looks again; until then: ${forward}`;
    }
}
