import { describe, expect, it } from "vitest";
import { withNeeds } from "../../../toolchain/parts/part";
import { pulumiParts } from "../../../toolchain/pulumi/parts";
import { locateParts } from "../../parts/locate";
import { helm } from "../../parts/programs";
import { clusterParts, userParts } from "../../parts/table";
import { sandboxPaths } from "../../paths";

it("the kubeconfig is in the cache", () => {
    const paths = sandboxPaths({ HOME: "/home/ada", XDG_CACHE_HOME: "/big" });
    expect(paths.kubeconfig).toBe("/big/chaos-shop/node/kubeconfig");
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
        const references = locateParts().images.map((image) => image.reference);
        expect(new Set(references).size).toBe(references.length);
        for (const reference of references) expect(reference).toMatch(/^[a-z0-9.-]+\.[a-z]+\/.+:[^:]+$/);
    });
});
