import type { V1ServiceSpec } from "@kubernetes/client-node";
import { describe, expect, it } from "vitest";
import { whyNotProxied } from "../../../../chaos/targets/proxied";

const spec: V1ServiceSpec = {
    type: "ClusterIP",
    clusterIP: "10.96.0.7",
    selector: { app: "hot-deals" },
    ports: [{ port: 80, protocol: "TCP" }],
    sessionAffinity: "None",
};
const reasonFor = (changes: Partial<V1ServiceSpec>, abort?: number | "reset") =>
    whyNotProxied({ metadata: { name: "it" }, spec: { ...spec, ...changes } }, abort);

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
