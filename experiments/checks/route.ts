import { baseUrl, type GatewayAddress, gatewayAddress, gatewayService } from "../../shared/gateway";
import type { Cluster } from "../../shared/kubernetes";
import { askProducts } from "./products";

/** How the gateway is asked: at its external address, or through the API server where there is none. */
export type Route = { kind: "address"; url: string } | { kind: "apiServer"; path: string };

/** The way to a gateway that has an external address. */
export function addressRoute(address: GatewayAddress): Route {
    return { kind: "address", url: baseUrl(address) };
}

/**
 * The way to the gateway. An address that nothing listens at (minikube without its tunnel, a node's address from a
 * laptop) is no way: then the API server passes the requests on.
 */
export async function chooseRoute(cluster: Cluster, namespace: string): Promise<Route> {
    const address = await gatewayAddress(cluster, namespace);
    if (address) {
        const direct = addressRoute(address);
        const answer = await askProducts(cluster, direct, 2_000);
        if (answer.status !== undefined) return direct;
    }
    return { kind: "apiServer", path: `/api/v1/namespaces/${namespace}/services/${gatewayService}:80/proxy` };
}

export function describeRoute(route: Route): string {
    return route.kind === "address" ? route.url : "the API server, since the gateway has no address that answers";
}
