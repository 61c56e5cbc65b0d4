import type { V1ServiceSpec } from "@kubernetes/client-node";
import { describe, expect, it } from "vitest";
import { containerPorts } from "../../../../../chaos/attacks/fault/resources";
import { findService, whyRefused } from "../../../../../chaos/attacks/fault/find";
import { FakeCluster } from "../../support/fake-cluster";

const spec: V1ServiceSpec = {
    type: "ClusterIP",
    clusterIP: "10.96.0.7",
    selector: { app: "hot-deals" },
    ports: [{ port: 80, protocol: "TCP" }],
    sessionAffinity: "None",
};
const reasonFor = (changes: Partial<V1ServiceSpec>, abort?: number | "reset") =>
    whyRefused({ metadata: { name: "it" }, spec: { ...spec, ...changes } }, abort);

it("a proxy takes the place of an ordinary Service, and of one of a load balancer", () => {
    expect(reasonFor({})).toBeUndefined();
    expect(reasonFor({ type: "LoadBalancer", externalTrafficPolicy: "Cluster" })).toBeUndefined();
    expect(reasonFor({}, 503)).toBeUndefined();
});

describe("a fault is refused for a Service", () => {
    it.each<[string, Partial<V1ServiceSpec>, string]>([
        ["without pods of its own", { type: "ExternalName" }, "type ExternalName"],
        ["that is headless", { clusterIP: "None" }, "it is headless"],
        ["without a selector", { selector: undefined }, "it has no selector"],
        ["with session affinity", { sessionAffinity: "ClientIP" }, "sessionAffinity ClientIP"],
        ["that nodes reach locally", { internalTrafficPolicy: "Local" }, "traffic policy Local"],
        ["whose load balancer is local", { externalTrafficPolicy: "Local" }, "traffic policy Local"],
        ["with a UDP port", { ports: [{ port: 53, protocol: "UDP" }] }, "its port 53 is UDP; allowed: TCP"],
        ["that has a proxy", { selector: { "chaos-experiments/proxy": "x" } }, "another fault has taken its place"],
    ])("%s", (_, changes, reason) => {
        expect(reasonFor(changes)).toContain(reason);
    });

    it.each([
        [{ name: "grpc", port: 80 }, "says grpc"],
        [{ name: "main", port: 80, appProtocol: "kubernetes.io/h2c" }, "says kubernetes.io/h2c"],
        [{ name: "https", port: 443 }, "says https"],
    ])("of whose port %j is no HTTP/1.1 in clear text, if a status answers", (port, reason) => {
        expect(reasonFor({ ports: [port] }, 503)).toContain(reason);
        expect(reasonFor({ ports: [port] }, "reset")).toBeUndefined();
        expect(reasonFor({ ports: [port] })).toBeUndefined();
    });
});

describe("ports of a Service that lead to the same port of its pods", () => {
    const portsOf = async (...targetPorts: (string | number)[]) => {
        const cluster = new FakeCluster();
        const ports = targetPorts.map((targetPort, index) => ({ name: `port-${index}`, port: 80 + index, targetPort }));
        cluster.add("Service", "hot-deals", { spec: { ...spec, ports } });
        const containers = [{ name: "it", ports: ["http", "web"].map((name) => ({ name, containerPort: 8080 })) }];
        cluster.add("Pod", "hot-deals-1", { metadata: { labels: spec.selector }, spec: { containers } });
        return (await findService(cluster.api, "demo", { service: "hot-deals" })).found.ports;
    };

    it("are one port of its proxy, with its name", async () => {
        expect(containerPorts(await portsOf("http", 8080))).toEqual([{ containerPort: 8080, name: "http" }]);
        expect(containerPorts(await portsOf(8080, "http"))).toEqual([{ containerPort: 8080, name: "http" }]);
        expect(containerPorts(await portsOf(8080, 8081))).toEqual([{ containerPort: 8080 }, { containerPort: 8081 }]);
    });

    it("may not have two names: a fault is refused then", () =>
        expect(portsOf("http", "web")).rejects.toThrow(
            "its target ports http and web are the same port 8080 of its pods; allowed: one name for a port",
        ));
});
