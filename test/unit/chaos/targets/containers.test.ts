import type { V1Pod } from "@kubernetes/client-node";
import { describe, expect, it } from "vitest";
import { attackable, containersOf } from "../../../../chaos/targets/containers";

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
        ["being deleted", { ...pod, metadata: { ...pod.metadata, deletionTimestamp: new Date() } }],
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
