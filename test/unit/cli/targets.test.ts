import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { agentOf, placeOfStack } from "../../../cli/stack-file";
import { targetsOptions } from "../../../cli/targets";

const folder = mkdtempSync(join(tmpdir(), "chaos-shop-stacks-"));
writeFileSync(join(folder, "Pulumi.local.yaml"), "# nothing is set\n");
writeFileSync(
    join(folder, "Pulumi.cloud.yaml"),
    "config:\n  chaos-shop:namespace: shop\n  chaos-shop:kube.context: my-cloud\n  chaos-shop:cluster.name: 7\n",
);
afterAll(() => rmSync(folder, { recursive: true }));

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
