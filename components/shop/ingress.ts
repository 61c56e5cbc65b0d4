import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import { gatewayService } from "../../shared/gateway";

export interface GatewayIngressArgs {
    namespace: pulumi.Input<string>;
    /** Each reaches the gateway. */
    hosts: string[];
    /** @default the cluster's default class */
    class?: string;
    /** A Secret of type kubernetes.io/tls in the shop's namespace. @default none, plain HTTP */
    tlsSecret?: string;
    /** For the cluster's ingress controller and certificate manager. @default none */
    annotations?: Record<string, string>;
}

/** The address of `/products` by an Ingress: at its first host that is one, and no wildcard; undefined where there is none. */
export function ingressUrl({ hosts, tlsSecret }: Pick<GatewayIngressArgs, "hosts" | "tlsSecret">): string | undefined {
    const host = hosts.find((name) => !name.startsWith("*."));
    return host && `${tlsSecret === undefined ? "http" : "https"}://${host}/products`;
}

/** Host names in front of the gateway, by whatever ingress controller the cluster has. */
export class GatewayIngress extends k8s.networking.v1.Ingress {
    constructor(name: string, args: GatewayIngressArgs, opts?: pulumi.CustomResourceOptions) {
        const backend = { service: { name: gatewayService, port: { name: "main" } } };
        super(
            name,
            {
                // Without a controller an Ingress never gets an address, which must not hold the update up.
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
