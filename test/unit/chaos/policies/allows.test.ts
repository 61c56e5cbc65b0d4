import type { V1NetworkPolicyPeer, V1NetworkPolicyPort } from "../../../../chaos/values/kubernetes-types";
import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../chaos/values/kubernetes-rules";
import { allows, allowsPeer, allowsPort, isolatesPod, type Peer } from "../../../../chaos/policies/allows";
import type { Protocol } from "../../../../chaos/policies/rules";

const ports = [
    { name: "http", containerPort: 8080 },
    { name: "web", containerPort: 8080 },
    { name: "dns", containerPort: 53, protocol: "UDP" },
];
const sidecar = { name: "entry", ports: [{ name: "entry", containerPort: 9443 }], restartPolicy: "Always" };
const portOf: Pod = { spec: { containers: [{ name: "app", ports }], initContainers: [sidecar] } };

describe("a rule's ports allow", () => {
    it.each<[string, V1NetworkPolicyPort[] | undefined, number, boolean]>([
        ["all, if it names none", undefined, 8080, true],
        ["a number", [{ port: 8080 }], 8080, true],
        ["no other", [{ port: 8081 }], 8080, false],
        ["a range, with its ends", [{ port: 8000, endPort: 8080 }], 8080, true],
        ["nothing beyond it", [{ port: 8000, endPort: 8079 }], 8080, false],
        ["a name, by its number in the pod", [{ port: "web" }], 8080, true],
        ["the name of a native sidecar's", [{ port: "entry" }], 9443, true],
        ["no name of another port of the pod", [{ port: "entry" }], 8080, false],
        ["no name that the pod lacks", [{ port: "missing" }], 8080, false],
        ["all of a protocol", [{ protocol: "TCP" }], 8080, true],
        ["not TCP by a rule for UDP", [{ protocol: "UDP" }, { protocol: "UDP", port: 53 }], 53, false],
    ])("%s", (_, ports, port, allowed) => expect(allowsPort({ ports }, { port, portOf })).toBe(allowed));

    it.each<[string, number | undefined, Protocol, boolean]>([
        ["of a pod that is not known", 8080, "TCP", true],
        ["if no port is asked for", undefined, "TCP", true],
        ["of another protocol", 8080, "UDP", false],
    ])("a name, %s", (_, port, protocol, allowed) =>
        expect(allowsPort({ ports: [{ port: "entry" }] }, { port, protocol })).toBe(allowed),
    );

    it("a name by UDP, which may be any: only names of TCP ports are looked up", () =>
        expect(allowsPort({ ports: [{ protocol: "UDP", port: "dns" }] }, { port: 53, protocol: "UDP", portOf })).toBe(
            true,
        ));
});

describe("a rule's peers allow", () => {
    const shop = { "kubernetes.io/metadata.name": "shop", tier: "web" };
    const front: Peer = { labels: { app: "front" }, namespace: shop };
    const app = (name: string) => ({ podSelector: { matchLabels: { app: name } } });
    const tier = (name: string) => ({ namespaceSelector: { matchLabels: { tier: name } } });
    const block = (cidr: string, ...except: string[]) => ({ ipBlock: { cidr, except } });

    it.each<[string, V1NetworkPolicyPeer[] | undefined, Peer, boolean]>([
        ["everybody, if it names none", undefined, {}, true],
        ["a pod of the policy's namespace", [app("front")], front, true],
        ["one of several", [app("api"), app("front")], front, true],
        ["no pod with other labels", [app("api")], front, false],
        [
            "no pod of another namespace, without a selector for that",
            [app("front")],
            { ...front, isElsewhere: true },
            false,
        ],
        ["a pod of a namespace that is selected", [tier("web")], { ...front, isElsewhere: true }, true],
        ["a pod by both selectors", [{ ...tier("web"), ...app("front") }], front, true],
        ["no pod of one alone", [{ ...tier("web"), ...app("api") }], front, false],
        ["no pod of a namespace that is not", [tier("data")], front, false],
        ["an address", [block("10.0.0.0/8")], { addresses: ["10.1.2.3"] }, true],
        [
            "a pod's address of another family",
            [block("fd00::/16")],
            { ...front, addresses: ["10.1.2.3", "fd00::3"] },
            true,
        ],
        ["no address that is excepted", [block("10.0.0.0/8", "10.1.0.0/16")], { addresses: ["10.1.2.3"] }, false],
        ["no pod by a block, if its address is not known", [block("0.0.0.0/0")], front, false],
        ["nothing that is no pod by labels", [tier("web"), { podSelector: {} }], { addresses: ["10.1.2.3"] }, false],
    ])("%s", (_, peers, peer, allowed) => expect(allowsPeer({ peers }, peer)).toBe(allowed));

    it("traffic only with its ports", () => {
        const rule = { peers: [app("front")], ports: [{ port: 8080 }] };
        expect(allows(rule, { peer: front, port: 8080 })).toBe(true);
        expect(allows(rule, { peer: front, port: 8081 })).toBe(false);
        expect(allows(rule, { peer: { labels: {} }, port: 8080 })).toBe(false);
        expect(allows(rule, { port: 8080 })).toBe(true);
    });
});

it("a policy isolates the pods that it selects, in its directions, and none on the host's network", () => {
    const policy = { spec: { podSelector: { matchLabels: { app: "api" } }, policyTypes: ["Ingress"] } };
    const pod = (app: string, hostNetwork?: boolean): Pod => ({
        metadata: { labels: { app } },
        spec: { containers: [], hostNetwork },
    });
    expect(isolatesPod(policy, pod("api"), "ingress")).toBe(true);
    expect(isolatesPod(policy, pod("api"), "egress")).toBe(false);
    expect(isolatesPod(policy, pod("front"), "ingress")).toBe(false);
    expect(isolatesPod(policy, pod("api", true), "ingress")).toBe(false);
});
