import { expect, it } from "vitest";
import { wayToGateway } from "../../../components/cluster/gatewayWay";
import type { LocalCluster } from "../../../components/cluster/guard";

it.each<[context: string, local: LocalCluster | undefined, serviceType: string, words: RegExp]>([
    ["minikube", "minikube", "LoadBalancer", /minikube tunnel --profile minikube/],
    ["kind-kind", "kind", "LoadBalancer", /kind gives none/],
    ["k3d-demo", "k3d", "LoadBalancer", /k3d gives one where port 80 is free/],
    ["docker-desktop", "Docker Desktop", "LoadBalancer", /Docker Desktop gives one/],
    ["rancher-desktop", "Rancher Desktop", "LoadBalancer", /Rancher Desktop gives one/],
    ["production", undefined, "LoadBalancer", /no external address yet; `pulumi up` looks again/],
    ["minikube", "minikube", "ClusterIP", /since gateway\.serviceType is ClusterIP/],
])(
    "without an address a gateway on %s (%s, %s) is reached by a command that fits, and always by port-forward",
    (name, local, serviceType, words) => {
        const way = wayToGateway({ name, local }, "demo", serviceType);
        expect(way).toMatch(words);
        expect(way).toContain(
            `kubectl --context ${name} --namespace demo port-forward service/gateway 8080:80, then http://127.0.0.1:8080/products`,
        );
    },
);
