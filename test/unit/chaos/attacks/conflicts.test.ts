import { expect, it } from "vitest";
import { refuseConflicts } from "../../../../chaos/attacks/conflicts";
import type { RunAttack } from "../../../../chaos/definition/plan";

const found = { service: "api", selector: {}, ports: [{ name: "", port: 80, listen: 8080 }], pods: ["api-1", "api-2"] };
const fault = {
    name: "fault",
    attack: { kind: "fault", service: "api", delay: "1s" },
    chosen: { targets: [{ pod: "api-2" }], found, origin: "Service api" },
};

/** A run with a fault of Service api and another attack on some pod, in both orders. */
const besideFault = (attack: object, pod = "api-1") => {
    const other = { name: "blackhole", attack, chosen: { targets: [{ pod }] } };
    const orders = [
        [fault, other],
        [other, fault],
    ];
    return orders.map((attacks) => () => refuseConflicts(attacks as unknown as RunAttack[]));
};

it.each<[string, object]>([
    ["everything", { kind: "blackhole" }],
    ["what comes in", { kind: "blackhole", direction: "ingress" }],
    ["the port of the Service", { kind: "blackhole", ports: [8080] }],
])("a blackhole of %s is refused on a pod of a fault's Service: its proxy connects there", (_, attack) => {
    const message = "blackhole would cut off api-1, a pod of Service api, and fault connects to each of them";
    for (const inThisOrder of besideFault(attack)) expect(inThisOrder).toThrow(message);
});

it.each<[string, object, string?]>([
    ["of what goes out", { kind: "blackhole", direction: "egress" }],
    ["of another port", { kind: "blackhole", ports: [9090] }],
    ["on a pod of another Service", { kind: "blackhole" }, "web-1"],
    ["on DNS", { kind: "dns" }],
    ["that kills", { kind: "kill" }],
])("an attack %s may be in a run with a fault", (_, attack, pod) => {
    for (const inThisOrder of besideFault(attack, pod)) expect(inThisOrder).not.toThrow();
});
