import { expect, it } from "vitest";
import { refuseConflicts } from "../../../../chaos/attacks/conflicts";
import type { RunAttack } from "../../../../chaos/definition/plan";

/** Its pods listen at 8080, and api-3, of another version, at 8081; the Service leads nowhere in api-4. */
const port = { name: "", port: 80, target: "http", listen: 8080, without: ["api-4"], elsewhere: { "api-3": 8081 } };
const found = { service: "api", selector: {}, ports: [port], pods: ["api-1", "api-2", "api-3", "api-4"] };
const fault = {
    name: "fault",
    attack: { kind: "fault", service: "api", delay: "1s" },
    chosen: { targets: [{ pod: "api-2" }], found, origin: "Service api" },
};

/** A run with a fault of Service api and another attack on some pod, in both orders. */
const besideFault = (attack: object, pod = "api-1", peer?: string) => {
    const peers = peer === undefined ? undefined : [{ pod: peer }];
    const other = { name: "blackhole", attack, chosen: { targets: [{ pod }], peers } };
    const orders = [
        [fault, other],
        [other, fault],
    ];
    return orders.map((attacks) => () => refuseConflicts(attacks as unknown as RunAttack[]));
};

it.each<[string, object, string?, string?]>([
    ["everything", { kind: "blackhole" }],
    ["what comes in", { kind: "blackhole", direction: "ingress" }],
    ["the port of the Service", { kind: "blackhole", ports: [8080] }],
    ["another version's port", { kind: "blackhole", ports: [8081] }, "api-3"],
    ["a peer: that comes by way of the proxy", { kind: "blackhole", peers: "k8s.deployment=web" }, "api-1", "web-1"],
    [
        "it as a peer: web goes by way of the proxy",
        { kind: "blackhole", peers: "k8s.deployment=api" },
        "web-1",
        "api-1",
    ],
])("a blackhole of %s is refused where a fault's proxy connects", (_, attack, pod, peer) => {
    for (const inThisOrder of besideFault(attack, pod, peer))
        expect(inThisOrder).toThrow(
            /^blackhole would deny connections to api-\d, a pod of Service api, and fault would connect to it in its/,
        );
});

it.each<[string, object, string?, string?]>([
    ["of what goes out", { kind: "blackhole", direction: "egress" }],
    ["of another port", { kind: "blackhole", ports: [9090] }],
    ["of a port at which other versions listen", { kind: "blackhole", ports: [8080] }, "api-3"],
    ["on a pod in which the Service leads nowhere", { kind: "blackhole" }, "api-4"],
    ["on a pod of another Service", { kind: "blackhole" }, "web-1"],
    ["of peers of another Service", { kind: "blackhole", peers: "k8s.deployment=web" }, "toys-1", "web-1"],
    [
        "of its way out to a peer",
        { kind: "blackhole", peers: "k8s.deployment=web", direction: "egress" },
        "api-1",
        "web-1",
    ],
    ["on DNS", { kind: "dns" }],
    ["that kills", { kind: "kill" }],
])("an attack %s may be in a run with a fault", (_, attack, pod, peer) => {
    for (const inThisOrder of besideFault(attack, pod, peer)) expect(inThisOrder).not.toThrow();
});
