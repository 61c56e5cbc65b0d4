import type { Cluster } from "../cluster/client";
import { askOverHttp } from "./http";
import { addressOf, addressRoute, type Route, type ServiceReference } from "./service";

const answerTimeoutMs = 2_000;

/**
 * Finds a route to a Service. Its address may not answer: minikube without its tunnel, or a node's address seen from a
 * laptop. Then the API server's proxy is the route. Any HTTP status to `GET /` counts as an answer.
 */
export async function chooseRoute(cluster: Cluster, service: ServiceReference): Promise<Route> {
    const { namespace, name, port } = service;
    const address = await addressOf(cluster, service);
    if (address) {
        const direct = addressRoute(address);
        const answer = await askOverHttp({ kind: "http", path: "/" }, cluster, direct, answerTimeoutMs);
        if (answer.status !== undefined) return direct;
    }
    return { kind: "apiServer", path: `/api/v1/namespaces/${namespace}/services/${name}:${port}/proxy` };
}
