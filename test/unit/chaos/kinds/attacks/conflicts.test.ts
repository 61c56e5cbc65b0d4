import { describe, expect, it } from "vitest";
import {
    type AdmittedAttack,
    refuseConflicts,
    refuseKeptFromProxy,
} from "../../../../../chaos/kinds/attacks/conflicts";
import type { RunAttack } from "../../../../../chaos/definition/plan";

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
    ["it as a peer of web, by way of the proxy", { kind: "blackhole", peers: "k8s.deployment=api" }, "web-1", "api-1"],
])("a blackhole of %s is refused where a fault's proxy connects", (_, attack, pod, peer) => {
    for (const inThisOrder of besideFault(attack, pod, peer))
        expect(inThisOrder).toThrow(
            /^blackhole would deny connections to api-\d, a pod of Service api, and fault would connect to it in its/,
        );
});

const toPeers = { kind: "blackhole", peers: "k8s.deployment=web" };

it.each<[string, object, string?, string?]>([
    ["of what goes out", { kind: "blackhole", direction: "egress" }],
    ["of another port", { kind: "blackhole", ports: [9090] }],
    ["of a port at which other versions listen", { kind: "blackhole", ports: [8080] }, "api-3"],
    ["on a pod in which the Service leads nowhere", { kind: "blackhole" }, "api-4"],
    ["on a pod of another Service", { kind: "blackhole" }, "web-1"],
    ["of peers of another Service", toPeers, "toys-1", "web-1"],
    ["of its way out to a peer", { ...toPeers, direction: "egress" }, "api-1", "web-1"],
    ["on DNS", { kind: "dns" }],
    ["that kills", { kind: "kill" }],
])("an attack %s may be in a run with a fault", (_, attack, pod, peer) => {
    for (const inThisOrder of besideFault(attack, pod, peer)) expect(inThisOrder).not.toThrow();
});

describe("among NetworkPolicies, where a fault's proxy needs some of the run, which leave out attacked pods", () => {
    const notAttacked = { key: "chaos-experiments/attacked", operator: "NotIn", values: ["7b1e"] };
    const selecting = (app: string) => ({ matchLabels: { app }, matchExpressions: [notAttacked] });
    const ofCallers = { adds: true, spec: { podSelector: selecting("web"), policyTypes: ["Egress"], egress: [] } };
    const ofPods = { adds: true, spec: { podSelector: selecting("api"), policyTypes: ["Ingress"], ingress: [] } };
    const pods = ["web", "api"].map((app) => ({ metadata: { name: `${app}-1`, uid: app, labels: { app } } }));

    const tried = (attack: object, app: string) => () => {
        const other = { name: "other", attack, chosen: { targets: [{ uid: app }] } } as unknown as RunAttack;
        const admitted = [{ attack: fault, needed: [ofCallers, ofPods] }] as unknown as AdmittedAttack[];
        refuseKeptFromProxy(admitted, [fault as unknown as RunAttack, other], pods);
    };

    it.each<[string, object, string]>([
        ["some ports of a caller", { kind: "blackhole", direction: "egress", ports: [5432] }, "web"],
        ["what comes into a caller", { kind: "blackhole", direction: "ingress" }, "web"],
        ["DNS of a pod of the Service", { kind: "dns" }, "api"],
    ])("an attack on %s is refused: it would be cut off from the Service", (_, attack, app) =>
        expect(tried(attack, app)).toThrow(`other would keep ${app}-1 from the proxy of fault: among`),
    );

    it.each<[string, object, string]>([
        ["everything of a caller, which is to reach nobody", { kind: "blackhole" }, "web"],
        ["all that goes out of a caller", { kind: "blackhole", direction: "egress" }, "web"],
        ["a pod that has nothing to do with it", { kind: "dns" }, "toys"],
        ["a pod by deleting it", { kind: "kill" }, "api"],
    ])("an attack on %s is not", (_, attack, app) => expect(tried(attack, app)).not.toThrow());
});
