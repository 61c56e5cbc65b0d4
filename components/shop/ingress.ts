import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { gatewayService } from "./gateway";

export interface GatewayIngressArgs {
    namespace: pulumi.Input<string>;
    hosts: string[];
    /** @default the cluster's default IngressClass */
    class?: string;
    /** A Secret of type kubernetes.io/tls in the shop's namespace. @default none, plain HTTP */
    tlsSecret?: string;
    /** For the cluster's ingress controller and certificate manager. @default none */
    annotations?: Record<string, string>;
}

/** The URL of `/products` at an Ingress's first host that is not a wildcard. Undefined if all hosts are wildcards. */
export function ingressUrl({ hosts, tlsSecret }: Pick<GatewayIngressArgs, "hosts" | "tlsSecret">): string | undefined {
    const host = hosts.find((name) => !name.startsWith("*."));
    return host && `${tlsSecret === undefined ? "http" : "https"}://${host}/products`;
}

/** Routes host names to the gateway, with the cluster's ingress controller. */
export class GatewayIngress extends k8s.networking.v1.Ingress {
    constructor(name: string, args: GatewayIngressArgs, opts?: pulumi.CustomResourceOptions) {
        const backend = { service: { name: gatewayService.name, port: { name: "main" } } };
        super(
            name,
            {
                // Without an ingress controller it never gets an address: an update must not wait for one.
                metadata: {
                    name,
                    namespace: args.namespace,
                    annotations: { ...args.annotations, "pulumi.com/skipAwait": "true" },
                },
                spec: {
                    ingressClassName: args.class,
                    tls: args.tlsSecret === undefined ? undefined : [{ hosts: args.hosts, secretName: args.tlsSecret }],
                    rules: args.hosts.map((host) => ({
                        host,
                        http: { paths: [{ path: "/", pathType: "Prefix", backend }] },
                    })),
                },
            },
            opts,
        );
    }
}
