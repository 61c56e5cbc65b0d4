import type { V1Pod } from "../../../../chaos/values/kubernetes-types";
import { describe, expect, it } from "vitest";
import { attackable, containersOf, type Discovered, ownerOf, whySpared } from "../../../../chaos/targets/containers";

const pod: V1Pod = {
    metadata: { name: "a", namespace: "demo", labels: {} },
    spec: { containers: [] },
    status: { phase: "Running", podIP: "10.0.0.1" },
};

it("an ordinary running pod may be attacked", () => expect(attackable(pod)).toBe(true));

describe("no pod is attacked that is", () => {
    it.each<[string, V1Pod]>([
        ["in the cluster's own namespaces", { ...pod, metadata: { ...pod.metadata, namespace: "kube-system" } }],
        ["on the host's network", { ...pod, spec: { containers: [], hostNetwork: true } }],
        [
            "labeled as protected",
            { ...pod, metadata: { ...pod.metadata, labels: { "chaos-experiments/protected": "true" } } },
        ],
        [
            "belonging to an experiment",
            {
                ...pod,
                metadata: { ...pod.metadata, labels: { "chaos-experiments/experiment": "hot-deals-blackhole" } },
            },
        ],
        ["not running", { ...pod, status: { phase: "Pending" } }],
        ["being deleted", { ...pod, metadata: { ...pod.metadata, deletionTimestamp: new Date().toISOString() } }],
    ])("%s", (_, candidate) => expect(attackable(candidate)).toBe(false));
});

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
    const both = {
        ...pod,
        metadata: { ...pod.metadata, namespace: "kube-system" },
        spec: { containers: [], hostNetwork: true },
    };
    expect(whySpared(both)).toBe("in the cluster's own namespace kube-system");
    expect(whySpared(pod)).toBeUndefined();
});

describe("a container's attributes name what owns its pod:", () => {
    const owner = (kind: string, name = "a") => ({ apiVersion: "v1", kind, name, uid: "a", controller: true });
    const ownedBy = (...kinds: string[]) => {
        const ownerReferences = kinds.map((kind) => owner(kind));
        const one = {
            ...pod,
            metadata: { ...pod.metadata, ownerReferences },
            spec: { containers: [{ name: "main" }] },
        };
        return containersOf(one, undefined, "local")[0]!;
    };

    it.each([
        ["StatefulSet", "k8s.statefulset"],
        ["DaemonSet", "k8s.daemonset"],
        ["Job", "k8s.job"],
        ["ReplicaSet", "k8s.replicaset"],
    ])("a %s", (kind, key) => {
        const { attributes, bare } = ownedBy(kind);
        expect([attributes[key], ownerOf(attributes), bare]).toEqual(["a", `${key}=a`, undefined]);
    });

    it("a Deployment, and not its ReplicaSet", () => {
        const ownerReferences = [owner("ReplicaSet", "a-1")];
        const one = {
            ...pod,
            metadata: { ...pod.metadata, ownerReferences },
            spec: { containers: [{ name: "main" }] },
        };
        const [{ attributes }] = containersOf(one, "a", "local") as [Discovered];
        expect(Object.keys(attributes).filter((key) => /deployment|replicaset/.test(key))).toEqual(["k8s.deployment"]);
    });

    it("another controller replaces the pod, too, but nothing or a node does not", () =>
        expect([ownedBy("CloneSet"), ownedBy(), ownedBy("Node")].map(({ bare }) => bare)).toEqual([
            undefined,
            true,
            true,
        ]));
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
