import { expect, it } from "vitest";
import type { Discovered } from "../../../chaos/targets/containers";
import { targetsTable } from "../../../cli/targets";

const container = (pod: string, ready: boolean): Discovered => ({
    namespace: "demo",
    pod,
    uid: pod,
    container: "web",
    containerId: "c",
    address: "10.0.0.1",
    ports: [],
    ready,
    attributes: { "k8s.deployment": "hot-deals", "host.hostname": "node-1" },
});

it("the table of targets marks the containers that attacks leave out since their pods are not ready", () => {
    expect(targetsTable([container("b", false), container("a", true), container("c", true)])).toEqual([
        "NAMESPACE  OWNER                     POD  CONTAINER  READY  NODE",
        "demo       k8s.deployment=hot-deals  a    web        yes    node-1",
        "demo       k8s.deployment=hot-deals  b    web        no     node-1",
        "demo       k8s.deployment=hot-deals  c    web        yes    node-1",
        "3 containers, 1 not ready: attacks leave them out by default",
    ]);
    expect(targetsTable([container("a", true)]).at(-1)).toBe("1 container");
});
