import { describe, expect, it } from "vitest";
import { refusedNamespace } from "../../../components/cluster/namespaceOwner";

const claimant = { stack: "cloud", key: "namespace", context: "production" } as const;
const namespace = (annotations?: Record<string, string>, phase = "Active") => ({
    metadata: { name: "demo", annotations },
    status: { phase },
});

describe("a namespace that is there", () => {
    it("is the stack's where it says so", () =>
        expect(refusedNamespace(namespace({ "chaos-shop/stack": "cloud" }), claimant)).toBeUndefined());

    it("and another stack's is refused, with that stack's name and the command for another", () => {
        const refused = refusedNamespace(namespace({ "chaos-shop/stack": "local" }), claimant);
        expect(refused).toMatch(/^namespace is "demo", which stack "local" has; allowed: .*Nothing was touched/);
        expect(refused).toContain("pulumi config set namespace demo-cloud");
        expect(refused).toContain(
            "If that stack is no more: kubectl --context production annotate --overwrite namespace demo chaos-shop/stack=cloud",
        );
    });

    it("and nobody's is refused, since destroying the stack would remove it with all that is in it", () => {
        const refused = refusedNamespace(namespace(), { ...claimant, key: "agent.namespace" });
        expect(refused).toMatch(/^agent\.namespace is "demo", which is there already, and no stack made it/);
        expect(refused).toContain("pulumi config set agent.namespace demo-cloud");
        expect(refused).toContain(
            "If this stack may have it, and remove it with all that is in it: kubectl --context production annotate",
        );
    });

    it("and is just being removed is waited for by its user", () => {
        expect(refusedNamespace(namespace({ "chaos-shop/stack": "cloud" }, "Terminating"), claimant)).toMatch(
            /being removed.*wait --for=delete namespace\/demo/,
        );
    });
});
