import { KubeConfig } from "@kubernetes/client-node";
import { describe, expect, it } from "vitest";
import { allowedContext, GuardError } from "../../../components/cluster/guard";

/** A kubeconfig with these contexts, each leading to that server; the first is the current one. */
function kubeconfig(servers: Record<string, string>, current = Object.keys(servers)[0]): KubeConfig {
    const config = new KubeConfig();
    const names = Object.keys(servers);
    config.loadFromOptions({
        clusters: names.map((name) => ({ name: `${name}-cluster`, server: servers[name]! })),
        users: names.map((name) => ({ name: `${name}-user` })),
        contexts: names.map((name) => ({ name, cluster: `${name}-cluster`, user: `${name}-user` })),
        currentContext: current,
    });
    return config;
}

describe("a context that is plainly local may be touched without being named", () => {
    it.each([
        ["kind-kind", "https://127.0.0.1:39123", "kind"],
        ["minikube", "https://192.168.49.2:8443", "minikube"],
        ["k3d-demo", "https://0.0.0.0:6550", "k3d"],
        ["docker-desktop", "https://kubernetes.docker.internal:6443", "Docker Desktop"],
        ["rancher-desktop", "https://127.0.0.1:6443", "Rancher Desktop"],
        ["chaos-shop-sandbox", "https://198.18.0.2:6443", "sandbox"],
    ])("%s at %s", (context, server, local) => {
        expect(allowedContext(kubeconfig({ [context]: server }), undefined)).toEqual({ name: context, server, local });
    });
});

describe("any other context is refused until the stack names it", () => {
    it.each([
        ["arn:aws:eks:eu-central-1:123456789012:cluster/production", "https://ABC.gr7.eu-central-1.eks.amazonaws.com"],
        ["gke_project_europe-west1_production", "https://34.90.1.2"],
        ["production-aks", "https://production.hcp.westeurope.azmk8s.io:443"],
        ["company", "https://10.0.0.1:6443"],
        ["minikube", "https://34.90.1.2:8443"],
        ["kind-kind", "https://kind.example.com"],
    ])("%s at %s", (context, server) => {
        const config = kubeconfig({ [context]: server });
        expect(() => allowedContext(config, undefined)).toThrow(GuardError);
        expect(() => allowedContext(config, undefined)).toThrow(`pulumi config set kube.context '${context}'`);
        expect(allowedContext(config, context)).toMatchObject({ name: context, server });
    });
});

it("a named context is used, whatever the current one is", () => {
    const config = kubeconfig({ production: "https://34.90.1.2", "kind-kind": "https://127.0.0.1:39123" });
    expect(allowedContext(config, "kind-kind").name).toBe("kind-kind");
});

it("a named context that is not there is refused, with those that are", () => {
    expect(() => allowedContext(kubeconfig({ "kind-kind": "https://127.0.0.1:1", minikube: "https://127.0.0.1:2" }), "kind")).toThrow(
        /kube\.context is "kind".*allowed: kind-kind, minikube/,
    );
});

it("without any context the error names the ways to get a cluster", () => {
    expect(() => allowedContext(new KubeConfig(), undefined)).toThrow(/no cluster to touch.*npm run sandbox -- up.*kind.*minikube/);
});

it("a context whose cluster is not described is refused", () => {
    const config = new KubeConfig();
    config.loadFromOptions({ clusters: [], users: [], contexts: [{ name: "minikube", cluster: "gone", user: "nobody" }], currentContext: "minikube" });
    expect(() => allowedContext(config, undefined)).toThrow(/cluster "gone", which the kubeconfig does not describe/);
});
