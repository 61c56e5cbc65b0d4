import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { placeOfStack } from "../../../cli/stackFile";
import { targetsOptions } from "../../../cli/targetsOptions";

const folder = mkdtempSync(join(tmpdir(), "chaos-shop-stacks-"));
writeFileSync(join(folder, "Pulumi.local.yaml"), "# nothing is set\n");
writeFileSync(
    join(folder, "Pulumi.cloud.yaml"),
    "config:\n  chaos-shop:namespace: shop\n  chaos-shop:kube.context: my-cloud\n  chaos-shop:cluster.name: 7\n",
);
afterAll(() => rmSync(folder, { recursive: true }));

describe("`npm run targets` asks the agents", () => {
    it("of the stack local, where that is unless its file says otherwise", () => {
        expect(targetsOptions([])).toEqual({ json: false, expressions: [], stack: "local", namespace: undefined });
        expect(placeOfStack("local", folder)).toEqual({
            namespace: "demo",
            kubeContext: undefined,
            clusterName: "local",
        });
    });
    it("of another stack, and never of one that is not there", () => {
        expect(targetsOptions(["--stack", "cloud", "--json"])).toMatchObject({ stack: "cloud", json: true });
        expect(placeOfStack("cloud", folder)).toEqual({ namespace: "shop", kubeContext: "my-cloud", clusterName: "7" });
        expect(() => placeOfStack("clod", folder)).toThrow(
            'there is no stack "clod": no Pulumi.clod.yaml; allowed: cloud, local',
        );
    });
    it("for what attribute expressions describe, and nothing else", () => {
        expect(targetsOptions(["k8s.deployment=hot-*", "k8s.namespace!=kube-system"])).toMatchObject({
            expressions: ["k8s.deployment=hot-*", "k8s.namespace!=kube-system"],
        });
        expect(targetsOptions(["hot-deals"])).toEqual({
            mistake: expect.stringMatching(/"hot-deals" is not a condition; write key=value/),
        });
        expect(targetsOptions(["--match=x"])).toEqual({ mistake: expect.stringContaining("--match") });
    });
});
