import { expect, it } from "vitest";
import { endpointsOf } from "../../../../chaos/witness/api";

const spec = {
    containers: [{ name: "app", ports: [{ containerPort: 8080 }] }],
    initContainers: [{ name: "entry", restartPolicy: "Always", ports: [{ containerPort: 9443 }] }],
};

it("the Job tries the ports of containers and native sidecars", () =>
    expect(endpointsOf({ spec, status: { podIP: "10.0.0.7" } })).toEqual(["10.0.0.7:8080", "10.0.0.7:9443"]));

it("at each of a pod's addresses, those of the cluster's first family first", () =>
    expect(
        endpointsOf({ spec, status: { podIP: "10.0.0.7", podIPs: [{ ip: "10.0.0.7" }, { ip: "fd00::7" }] } }),
    ).toEqual(["10.0.0.7:8080", "10.0.0.7:9443", "[fd00::7]:8080", "[fd00::7]:9443"]));

it("and none of a pod without an address, or of one that has ended: another pod may have its address", () =>
    expect([{}, { podIP: "10.0.0.7", phase: "Failed" }].map((status) => endpointsOf({ spec, status }))).toEqual([
        [],
        [],
    ]));
