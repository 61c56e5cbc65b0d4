import { beforeEach, expect, it } from "vitest";
import { accessHint } from "../../../../components/cluster/gateway-outputs";
import { runAs } from "../../../support/running-stack";

beforeEach(() => runAs("local"));

it.each<[context: string, local: string | undefined, serviceType: string, words: RegExp]>([
    ["minikube", "minikube", "LoadBalancer", /minikube tunnel --profile minikube/],
    ["kind-kind", "kind", "LoadBalancer", /kind assigns one only if/],
    ["k3d-demo", "k3d", "LoadBalancer", /k3d assigns one if port 80 is free/],
    ["docker-desktop", "Docker Desktop", "LoadBalancer", /Docker Desktop assigns one/],
    ["rancher-desktop", "Rancher Desktop", "LoadBalancer", /Rancher Desktop assigns one/],
    ["production", undefined, "LoadBalancer", /no external address yet; `npx pulumi up --stack local` shows it/],
    ["minikube", "minikube", "ClusterIP", /since gateway\.serviceType is ClusterIP/],
])(
    "the hint for a gateway without an address on %s (%s, %s) fits the cluster, and has a port-forward",
    (name, local, serviceType, words) => {
        const way = accessHint({ name, local }, "demo", serviceType);
        expect(way).toMatch(words);
        expect(way).toContain(
            `kubectl --context ${name} --namespace demo port-forward service/gateway 8080:80, then ` +
                "http://127.0.0.1:8080/products",
        );
    },
);
