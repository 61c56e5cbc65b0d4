import { describe, expect, it } from "vitest";
import { locateTarget } from "../../../../chaos/targets/locate";

describe("a target is in exactly one namespace", () => {
    it.each([
        [
            "k8s.deployment=hot-deals",
            "Global",
            { target: "k8s.deployment=hot-deals,k8s.namespace=demo", namespace: "demo" },
        ],
        [
            "k8s.deployment=hot-deals",
            "other",
            { target: "k8s.deployment=hot-deals,k8s.namespace=other", namespace: "other" },
        ],
        ["k8s.deployment=a,k8s.namespace=b", "Global", { target: "k8s.deployment=a,k8s.namespace=b", namespace: "b" }],
    ])("%s in %s", (target, area, expected) => expect(locateTarget(target, area, "demo")).toEqual(expected));

    it.each(["k8s.namespace=a|b", "k8s.namespace!=a", "k8s.namespace=a*"])("%s is rejected", (target) => {
        expect(() => locateTarget(target, "Global", "demo")).toThrow("exactly one namespace");
    });
});
