import type { V1Service } from "@kubernetes/client-node";
import type { Cluster } from "./kubernetes";
import { orMissing } from "./kubernetes";

/** The gateway's Service, by the name that the document gives it. */
export const gatewayService = "gateway";

/** Where the gateway answers from outside the cluster. */
export interface GatewayAddress {
    /** An IP address or a host name. */
    host: string;
    port: number;
}

/** The gateway's external address now; undefined where it has none, or is not there. */
export async function gatewayAddress(cluster: Cluster, namespace: string): Promise<GatewayAddress | undefined> {
    const service = await orMissing(cluster.core.readNamespacedService({ name: gatewayService, namespace }));
    return service && externalAddress(service);
}

export function externalAddress(service: V1Service): GatewayAddress | undefined {
    const ingress = service.status?.loadBalancer?.ingress?.[0];
    const host = ingress?.ip ?? ingress?.hostname;
    const port = service.spec?.ports?.[0]?.port;
    return host === undefined || port === undefined ? undefined : { host, port };
}

/** `http://198.18.1.0`; the port only where it is not HTTP's own. */
export function baseUrl({ host, port }: GatewayAddress): string {
    const authority = host.includes(":") ? `[${host}]` : host;
    return `http://${authority}${port === 80 ? "" : `:${port}`}`;
}

/** `http://198.18.1.0/products` */
export function productsUrl(address: GatewayAddress): string {
    return `${baseUrl(address)}/products`;
}
