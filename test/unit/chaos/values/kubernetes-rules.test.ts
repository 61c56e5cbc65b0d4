import type { V1ContainerPort } from "../../../../chaos/values/kubernetes-types";
import { describe, expect, it } from "vitest";
import {
    dnsLabel,
    dnsSubdomain,
    hasEnded,
    isReady,
    type Pod,
    portNumberIn,
    tcpPortsOf,
} from "../../../../chaos/values/kubernetes-rules";

describe("names are what Kubernetes accepts:", () => {
    it.each([
        ["hot-deals", true, true],
        ["7zip", true, true],
        ["orders.v2", false, true],
        ["a".repeat(63), true, true],
        ["a".repeat(64), false, true],
        [`${"a".repeat(126)}.${"b".repeat(126)}`, false, true],
        ["a".repeat(254), false, false],
        ["orders..v2", false, false],
        ["orders.-v2", false, false],
        ["-orders", false, false],
        ["Orders", false, false],
        ["orders_v2", false, false],
        ["", false, false],
    ])("%s: a label %s, a subdomain %s", (name, isLabel, isSubdomain) =>
        expect([dnsLabel().isValid(name), dnsSubdomain.isValid(name)]).toEqual([isLabel, isSubdomain]),
    );
});

const container = (name: string, ports: V1ContainerPort[] = [], restartPolicy?: string) => ({
    name,
    ports,
    ...(restartPolicy && { restartPolicy }),
});
const pod = (fields: Partial<Pod["spec"]>, status: Pod["status"] = {}): Pod => ({
    spec: { containers: [], ...fields },
    status,
});

const several = pod({
    containers: [
        container("app", [
            { name: "http", containerPort: 8080 },
            { name: "web", containerPort: 8080 },
            { name: "dns", containerPort: 53, protocol: "UDP" },
            { name: "dns-tcp", containerPort: 53, protocol: "TCP" },
            { name: "gossip", containerPort: 7946, protocol: "UDP" },
        ]),
    ],
    initContainers: [
        container("setup", [{ name: "setup", containerPort: 1234 }]),
        container("entry", [{ name: "entry", containerPort: 9443 }], "Always"),
    ],
});

it("a pod's TCP ports are those of its containers and native sidecars, each once", () =>
    expect(tcpPortsOf(several)).toEqual([8080, 53, 9443]));

it.each([
    ["http", 8080],
    ["web", 8080],
    ["entry", 9443],
    ["dns-tcp", 53],
    ["dns", undefined],
    ["setup", undefined],
    ["missing", undefined],
    [8443, 8443],
])("in a pod, the port %s is %s", (port, number) => expect(portNumberIn(several, port)).toBe(number));

it("a pod that has ended is not ready, whatever its condition says: it may have been evicted", () => {
    const conditions = [{ type: "Ready", status: "True" }];
    const states = ["Running", "Failed", "Succeeded"].map((phase) => pod({}, { phase, conditions }));
    expect(states.map(hasEnded)).toEqual([false, true, true]);
    expect(states.map(isReady)).toEqual([true, false, false]);
});
