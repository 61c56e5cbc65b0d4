import { beforeEach, describe, expect, it } from "vitest";
import { refusedNamespace } from "../../../../components/cluster/namespace-owner";
import { runAs } from "../../../support/running-stack";

beforeEach(() => runAs("local"));

const claimant = { stack: "cloud", identity: "ours", key: "namespace", context: "production" } as const;
const namespace = (annotations?: Record<string, string>, phase = "Active") => ({
    metadata: { name: "demo", annotations },
    status: { phase },
});

describe("an existing namespace", () => {
    it.each([
        ["identity", { "chaos-shop/stack": "cloud", "chaos-shop/identity": "ours" }],
        ["identity and an earlier name", { "chaos-shop/stack": "local", "chaos-shop/identity": "ours" }],
        ["name and no identity", { "chaos-shop/stack": "cloud" }],
    ])("is accepted if it has the stack's %s", (_, annotations) =>
        expect(refusedNamespace(namespace(annotations), claimant)).toBeUndefined(),
    );

    it("is refused if it is of a stack of the same name in another backend, with the commands for both cases", () => {
        const annotations = { "chaos-shop/stack": "cloud", "chaos-shop/identity": "theirs" };
        const refused = refusedNamespace(namespace(annotations), claimant);
        expect(refused).toMatch(/^namespace is "demo", which belongs to another stack named "cloud"/);
        expect(refused).toContain("pulumi config set namespace demo-cloud");
        expect(refused).toMatch(/annotate --overwrite namespace demo chaos-shop\/stack=cloud chaos-shop\/identity-$/);
    });

    it("is refused if it is another stack's, with that stack's name and the command for another one", () => {
        const refused = refusedNamespace(namespace({ "chaos-shop/stack": "local" }), claimant);
        expect(refused).toMatch(/^namespace is "demo", which belongs to stack "local"; allowed: .*Nothing was touched/);
        expect(refused).toContain("pulumi config set namespace demo-cloud");
        expect(refused).toContain(
            "If that stack no longer exists: kubectl --context production annotate --overwrite namespace " +
                "demo chaos-shop/stack=cloud",
        );
    });

    it("is refused if it belongs to no stack, because destroying the stack would delete everything in it", () => {
        const refused = refusedNamespace(namespace(), { ...claimant, key: "agent.namespace" });
        expect(refused).toMatch(/^agent\.namespace is "demo", which exists and belongs to no stack/);
        expect(refused).toContain("pulumi config set agent.namespace demo-cloud");
        expect(refused).toContain(
            "If this stack may use it, and delete it with everything in it: kubectl --context production annotate",
        );
    });

    it("is refused while it is being deleted, with the command that waits for it", () => {
        expect(refusedNamespace(namespace({ "chaos-shop/stack": "cloud" }, "Terminating"), claimant)).toMatch(
            /being deleted.*wait --for=delete namespace\/demo/,
        );
    });

    it("is refused with the name of another one that Kubernetes accepts, and commands for a shell", () => {
        const other = { ...claimant, stack: "My_stack.2", context: "kind shop" };
        const refused = refusedNamespace(namespace({ "chaos-shop/stack": "local" }), other);
        expect(refused).toContain("npx pulumi config set namespace demo-my-stack-2");
        expect(refused).toContain("kubectl --context 'kind shop' annotate --overwrite namespace demo");
        const long = { ...namespace(), metadata: { name: "n".repeat(57) } };
        expect(refusedNamespace(long, claimant)).toContain(
            `npx pulumi config set namespace ${"n".repeat(51)}-cloud --stack local\n`,
        );
    });
});
