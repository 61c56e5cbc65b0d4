import { baseUrl, type ServiceAddress, type ServiceReference } from "../../chaos/kinds/checks/service";

export const gatewayService = { name: "gateway", port: 80 } as const;

export const gatewayOf = (namespace: string): ServiceReference => ({ namespace, ...gatewayService });

export function productsUrl(address: ServiceAddress): string {
    return `${baseUrl(address)}/products`;
}
