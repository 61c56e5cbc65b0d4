import type { V1Pod } from "../../../../chaos/values/kubernetes-types";
import { describe, expect, it } from "vitest";
import { attackable, containersOf, ownerOf, whySpared } from "../../../../chaos/targets/containers";

const pod: V1Pod = {
    metadata: { name: "a", namespace: "demo", labels: {} },
    spec: { containers: [] },
    status: { phase: "Running", podIP: "10.0.0.1" },
};

const withMetadata = (fields: object): V1Pod => ({ ...pod, metadata: { ...pod.metadata, ...fields } });
const labeled = (label: string) => withMetadata({ labels: { [`chaos-experiments/${label}`]: "true" } });

it("an ordinary running pod may be attacked", () => expect(attackable(pod)).toBe(true));

it.each<[string, V1Pod]>([
    ["in the cluster's own namespaces", withMetadata({ namespace: "kube-system" })],
    ["on the host's network", { ...pod, spec: { containers: [], hostNetwork: true } }],
    ["labeled as protected", labeled("protected")],
    ["belonging to an experiment", labeled("experiment")],
    ["not running", { ...pod, status: { phase: "Pending" } }],
    ["being deleted", withMetadata({ deletionTimestamp: new Date().toISOString() })],
])("no pod is attacked that is %s", (_, candidate) => expect(attackable(candidate)).toBe(false));

it("a container has the addresses of both families, if its pod has them", () => {
    const addressesOf = (...ips: string[]) => {
        const status = { podIP: ips[0]!, podIPs: ips.map((ip) => ({ ip })) };
        const spec = { containers: [{ name: "main" }] };
        const [container] = containersOf({ metadata: pod.metadata!, spec, status }, undefined, "local");
        return [container!.address, container!.addresses];
    };
    expect(addressesOf("10.0.0.1", "fd00::1")).toEqual(["10.0.0.1", ["10.0.0.1", "fd00::1"]]);
    expect(addressesOf("fd00::1")).toEqual(["fd00::1", undefined]);
});

it("the reason is what nobody can change first", () => {
    const both = { ...withMetadata({ namespace: "kube-system" }), spec: { containers: [], hostNetwork: true } };
    expect(whySpared(both)).toBe("in the cluster's own namespace kube-system");
    expect(whySpared(pod)).toBeUndefined();
});

describe("a container's attributes name what owns its pod:", () => {
    const ownedBy = (kinds: string[], deployment?: string) => {
        const ownerReferences = kinds.map((kind) => ({ kind, name: "a", uid: "a", controller: true }));
        const one = { ...withMetadata({ ownerReferences }), spec: { containers: [{ name: "main" }] } };
        return containersOf(one, deployment, "local")[0]!;
    };

    it.each([
        ["StatefulSet", "k8s.statefulset"],
        ["DaemonSet", "k8s.daemonset"],
        ["Job", "k8s.job"],
        ["ReplicaSet", "k8s.replicaset"],
    ])("a %s", (kind, key) => {
        const { attributes, bare } = ownedBy([kind]);
        expect([attributes[key], ownerOf(attributes), bare]).toEqual(["a", `${key}=a`, undefined]);
    });

    it("a Deployment, and not its ReplicaSet", () => {
        const { attributes } = ownedBy(["ReplicaSet"], "a");
        expect(Object.keys(attributes).filter((key) => /deployment|replicaset/.test(key))).toEqual(["k8s.deployment"]);
    });

    it("another controller replaces the pod, too, but nothing or a node does not", () =>
        expect([["CloneSet"], [], ["Node"]].map((kinds) => ownedBy(kinds).bare)).toEqual([undefined, true, true]));
});

describe("of a pod with several containers", () => {
    const spec = {
        restartPolicy: "Never",
        containers: [{ name: "main" }, { name: "done" }],
        initContainers: [{ name: "setup" }, { name: "sidecar", restartPolicy: "Always" }],
    };
    const container = { image: "", imageID: "", ready: true, restartCount: 0 };
    const running = { ...container, state: { running: {} } };
    const ended = { ...container, state: { terminated: { exitCode: 0 } } };
    const status = {
        ...pod.status,
        containerStatuses: [
            { name: "main", ...running },
            { name: "done", ...ended },
        ],
        initContainerStatuses: [
            { name: "setup", ...ended },
            { name: "sidecar", ...running },
        ],
        ephemeralContainerStatuses: [{ name: "debugger", ...running }],
    };
    const namesIn = (restartPolicy: string) =>
        containersOf({ metadata: pod.metadata!, spec: { ...spec, restartPolicy }, status }, undefined, "local");

    it("neither init containers, sidecars nor ephemeral ones are targets, and nothing that has ended for good", () => {
        expect(namesIn("Never").map(({ container }) => container)).toEqual(["main"]);
        expect(namesIn("Always").map(({ container }) => container)).toEqual(["main", "done"]);
    });

    it("the ports of its containers and native sidecars are the ports of each: they share an address", () => {
        const ports = (...numbers: number[]) => ({ ports: numbers.map((containerPort) => ({ containerPort })) });
        const containers = [
            { name: "main", ...ports(8080) },
            { name: "done", ...ports(8080, 8081) },
        ];
        const initContainers = [{ name: "sidecar", restartPolicy: "Always", ...ports(9443) }];
        const one = { metadata: pod.metadata!, spec: { containers, initContainers }, status };
        expect(containersOf(one, undefined, "local").map((found) => found.ports)).toEqual([
            [8080, 8081, 9443],
            [8080, 8081, 9443],
        ]);
    });

    it("running sidecars and ephemeral ones are known, since connections can be tried from them", () =>
        expect(namesIn("Never")[0]!.helpers).toEqual(["sidecar", "debugger"]));
});
