import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withNeeds } from "../../../toolchain/parts/part";
import { cachePaths } from "../../../toolchain/parts/paths";
import { pulumiParts } from "../../../toolchain/pulumi/parts";
import { helm } from "../support/helm";
import { clusterParts, locateParts, userParts } from "../../parts/locate";
import { layout } from "../../node/layout";

it("the kubeconfig is in the cache", () => {
    expect(layout.kubeconfig).toBe(join(cachePaths().cache, "node/kubeconfig"));
});

/** The modules that a go.mod lists, with their versions. */
function goModules(file: string): Record<string, string> {
    const listed = readFileSync(join(__dirname, "../../..", file), "utf8").split("\nreplace ")[0]!;
    return Object.fromEntries([...listed.matchAll(/^\t(\S+) (v\S+)/gm)].map(([, name, version]) => [name!, version!]));
}

it("Kubernetes and Pulumi's provider share the versions of their modules, which Go then compiles once", () => {
    const kubernetes = goModules("sandbox/modules/kubernetes/go.mod");
    const provider = goModules("toolchain/modules/pulumi-kubernetes/go.mod");
    const shared = Object.keys(kubernetes).filter((name) => name in provider);
    expect(shared).toContain("k8s.io/client-go");
    for (const name of shared) expect([name, provider[name]]).toEqual([name, kubernetes[name]]);
});

describe("the parts of the sandbox", () => {
    it("are Pulumi's and the cluster's, without overlap", () => {
        expect(withNeeds(userParts).length).toBe(withNeeds(pulumiParts).length + withNeeds(clusterParts).length);
    });

    it("have unique names", () => {
        const names = withNeeds([...userParts, helm]).map(({ name }) => name);
        expect(new Set(names).size).toBe(names.length);
    });

    it("include each image once, under a full reference", () => {
        const references = locateParts().images.flatMap((image) => image.references);
        expect(new Set(references).size).toBe(references.length);
        for (const reference of references) expect(reference).toMatch(/^[a-z0-9.-]+\.[a-z]+\/.+:[^:]+$/);
    });
});
