import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withNeeds } from "../../../toolchain/parts/part";
import { cachePaths } from "../../../toolchain/parts/paths";
import { pulumiParts } from "../../../toolchain/pulumi/parts";
import { helm } from "../support/helm";
import { imageK6 } from "../support/k6";
import { crdsIn } from "../../node/networks/network";
import { clusterParts, locateParts, networkParts, userParts } from "../../parts/locate";
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
        const names = withNeeds([...userParts, ...Object.values(networkParts).flat(), helm, imageK6]).map(
            ({ name }) => name,
        );
        expect(new Set(names).size).toBe(names.length);
    });

    it("include each image once, under a full reference", () => {
        const references = locateParts().images.flatMap((image) => image.references);
        expect(new Set(references).size).toBe(references.length);
        for (const reference of references) expect(reference).toMatch(/^[a-z0-9.-]+\.[a-z]+\/.+:[^:]+$/);
    });
});

it("a network's parts are built only for that network", () => {
    const always = withNeeds(userParts);
    const { calico, cilium } = networkParts;
    for (const part of [...calico, ...cilium]) expect(always).not.toContain(part);
    expect(calico.map(({ name }) => name)).toEqual(["calico"]);
    expect(cilium.map(({ name }) => name)).toEqual(["debian-clang", "cilium"]);
});

it("the CRDs of a network are in YAML files of a folder and those below it", () => {
    const folder = mkdtempSync(join(tmpdir(), "crds-"));
    const named = (name: string) =>
        `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ${name}}\n`;
    for (const version of ["v1", "v2"]) mkdirSync(join(folder, version));
    writeFileSync(join(folder, "v2/nodes.yaml"), `---\n${named("nodes")}`);
    writeFileSync(join(folder, "v1/pools.yaml"), named("pools"));
    writeFileSync(join(folder, "v1/embed.go"), "package v1");
    expect(crdsIn(folder).map(({ metadata }) => metadata.name)).toEqual(["pools", "nodes"]);
    rmSync(folder, { recursive: true });
});
