import { describe, expect, it } from "vitest";
import { locateTarget } from "../../../../chaos/targets/locate";

describe("a target is in exactly one namespace", () => {
    it.each([
        ["k8s.deployment=a", "Global", "demo"],
        ["k8s.deployment=a", "other", "other"],
        ["k8s.deployment=a,k8s.namespace=b", "Global", "b"],
    ])("%s in %s", (target, area, namespace) =>
        expect(locateTarget(target, area, "demo")).toEqual({
            target: `k8s.deployment=a,k8s.namespace=${namespace}`,
            namespace,
        }),
    );

    it.each(["k8s.namespace=a|b", "k8s.namespace!=a", "k8s.namespace=a*"])("%s is rejected", (target) => {
        expect(() => locateTarget(target, "Global", "demo")).toThrow("exactly one namespace");
    });
});
