import { baseUrl, type ServiceAddress, type ServiceReference } from "../../chaos/checks/service";

/** Name and port of the gateway's Service. */
export const gatewayService = { name: "gateway", port: 80 } as const;

/** The gateway's Service of the shop in a namespace. */
export const gatewayOf = (namespace: string): ServiceReference => ({ namespace, ...gatewayService });

/** `http://198.18.1.0/products` */
export function productsUrl(address: ServiceAddress): string {
    return `${baseUrl(address)}/products`;
}
