import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Discovered } from "../../../chaos/targets/containers";
import { agentOf, placeOfStack } from "../../../cli/stack-file";
import { targetsOptions, targetsTable } from "../../../cli/targets";
import { scratchFolder } from "../../support/scratch";

const folder = scratchFolder();
writeFileSync(join(folder, "Pulumi.local.yaml"), "# nothing is set\n");
writeFileSync(
    join(folder, "Pulumi.cloud.yaml"),
    "config:\n  chaos-shop:namespace: shop\n  chaos-shop:kube.context: my-cloud\n  chaos-shop:cluster.name: 7\n",
);

describe("`npm run targets` asks the agents", () => {
    it("of the stack local by default, in the namespace of its file or the default one", () => {
        expect(targetsOptions([])).toEqual({ json: false, expressions: [], stack: "local", namespace: undefined });
        expect(placeOfStack("local", undefined, folder)).toEqual({
            namespace: "demo",
            kubeContext: undefined,
            clusterName: "local",
            agent: { namespace: "demo-agent", name: "agent" },
        });
    });
    it("of another stack if it is named, but never of one that does not exist", () => {
        expect(targetsOptions(["--stack", "cloud", "--json"])).toMatchObject({ stack: "cloud", json: true });
        expect(placeOfStack("cloud", undefined, folder)).toEqual({
            namespace: "shop",
            kubeContext: "my-cloud",
            clusterName: "7",
            agent: { namespace: "shop-agent", name: "agent" },
        });
        // The program of a stack in an organization does not know that.
        expect(placeOfStack("acme/local", undefined, folder)).toMatchObject({ clusterName: "local" });
        expect(() => placeOfStack("clod", undefined, folder)).toThrow(
            'there is no stack "clod": no Pulumi.clod.yaml; allowed: cloud, local. ' +
                "To create it: npx pulumi stack init clod --no-select",
        );
    });
    it("of the namespace that is asked for", () =>
        expect(placeOfStack("local", "e2e", folder)).toMatchObject({
            namespace: "e2e",
            agent: { namespace: "e2e-agent", name: "agent" },
        }));
    it("that the stack has made itself", () => {
        expect(agentOf({ "agent.namespace": "chaos" }, "demo")).toEqual({ namespace: "chaos", name: "agent" });
        expect(agentOf({ "agent.enabled": "false" }, "demo")).toBeUndefined();
        expect(agentOf({ "agent.install": "chart" }, "demo")).toBeUndefined();
    });
    it("for containers by attribute expressions, and rejects anything else", () => {
        expect(targetsOptions(["k8s.deployment=hot-*", "k8s.namespace!=kube-system"])).toMatchObject({
            expressions: ["k8s.deployment=hot-*", "k8s.namespace!=kube-system"],
        });
        expect(() => targetsOptions(["hot-deals"])).toThrow(/"hot-deals" is not a condition; write key=value/);
        expect(() => targetsOptions(["--match=x"])).toThrow("--match");
    });
});

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
