import type { AllowedContext } from "./guard";

/**
 * How to reach a gateway that has no external address, in words, with the command for the kind of cluster at hand.
 *
 * @param serviceType the gateway Service's
 */
export function wayToGateway(
    { name, local }: Pick<AllowedContext, "name" | "local">,
    namespace: string,
    serviceType: string,
): string {
    const forward = `kubectl --context ${name} --namespace ${namespace} port-forward service/gateway 8080:80, then http://127.0.0.1:8080/products`;
    if (serviceType !== "LoadBalancer")
        return `no external address, since gateway.serviceType is ${serviceType}; reach it with: ${forward}`;
    switch (local) {
        case "minikube":
            return `no external address until a tunnel runs: minikube tunnel --profile ${name}, then \`pulumi up\` again; or without one: ${forward}`;
        case "kind":
            return `no external address: kind gives none, unless its cloud-provider-kind runs; reach it with: ${forward}`;
        case "k3d":
        case "Docker Desktop":
        case "Rancher Desktop":
            return `no external address: ${local} gives one where port 80 is free, and another Service may have it; reach it with: ${forward}`;
        default:
            return `no external address yet; \`pulumi up\` looks again; until then: ${forward}`;
    }
}
