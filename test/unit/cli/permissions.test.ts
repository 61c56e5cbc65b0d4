import { loadAll } from "js-yaml";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { register } from "tsx/cjs/api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { permissionsManifest, renderOptions } from "../../../cli/render";

const folder = mkdtempSync(join(tmpdir(), "chaos-shop-permissions-"));
// Saved experiments are TypeScript, which the programs of `npm run` load by tsx.
let unregister: () => void;
beforeAll(() => {
    unregister = register();
    const plain = { "chaos-shop:namespace": "shop", "chaos-shop:experiment.name": "toys-blackhole" };
    const withAgent = { ...plain, "chaos-shop:agent.enabled": "true", "chaos-shop:agent.key": { secure: "v1:x" } };
    const without = { ...plain, "chaos-shop:agent.enabled": "false" };
    const unproven = { ...plain, "chaos-shop:experiment.outward": "unproven" };
    writeFileSync(join(folder, "Pulumi.unproven.yaml"), JSON.stringify({ config: unproven }));
    writeFileSync(join(folder, "Pulumi.local.yaml"), JSON.stringify({ config: withAgent }));
    writeFileSync(join(folder, "Pulumi.bare.yaml"), JSON.stringify({ config: without }));
});
afterAll(() => {
    unregister();
    rmSync(folder, { recursive: true });
});

const optionsOf = (...args: string[]) => renderOptions(["--permissions", ...args], folder);
function manifestOf(...args: string[]): Promise<string> {
    const options = optionsOf(...args);
    if (!("configurations" in options)) throw new Error("that is a rendering");
    return permissionsManifest(options);
}
const rolesOf = async (...args: string[]) => loadAll(await manifestOf(...args)) as Record<string, any>[];
const rulesFor = (roles: Record<string, any>[], resource: string) =>
    roles.flatMap(({ rules }) => (rules as Record<string, any>[]).filter(({ resources }) => resources[0] === resource));

describe("npm run render -- --permissions", () => {
    it("prints the roles of the stack's experiment, in the stack's namespaces", async () => {
        expect((await rolesOf()).map(({ kind, metadata }) => [kind, metadata.namespace, metadata.name])).toEqual([
            ["Role", "shop", "chaos-shop-toys-blackhole"],
            ["Role", "shop", "chaos-shop-toys-blackhole-optional"],
            ["Role", "shop-agent", "chaos-shop-toys-blackhole"],
            ["Role", "shop-agent", "chaos-shop-toys-blackhole-optional"],
            ["ClusterRole", undefined, "chaos-shop-toys-blackhole-shop"],
            ["ClusterRole", undefined, "chaos-shop-toys-blackhole-shop-optional"],
        ]);
    });

    it("includes what each update asks of the cluster", async () => {
        const [recognize] = rulesFor(await rolesOf(), "namespaces").filter(({ resourceNames }) => resourceNames);
        expect(recognize).toEqual({
            apiGroups: [""],
            resources: ["namespaces"],
            resourceNames: ["kube-system", "shop", "shop-agent"],
            verbs: ["get"],
        });
        const [ofAgent] = rulesFor(await rolesOf(), "clusterrolebindings");
        expect(ofAgent).toMatchObject({ resourceNames: ["chaos-shop-agent-shop"], verbs: ["get"] });
        expect(rulesFor(await rolesOf(), "services").map(({ verbs }) => verbs)).toContainEqual(["list"]);
    });

    it("includes what the agent has by its manifest outside of the stack's namespaces", async () => {
        const manifest = join(folder, "agent.yaml");
        const object = (apiVersion: string, kind: string, metadata: object, more: object = {}) =>
            JSON.stringify({ apiVersion, kind, metadata: { name: "vendor", ...metadata }, ...more });
        const rbac = "rbac.authorization.k8s.io/v1";
        const definition = { group: "vendor.io", scope: "Cluster", names: { kind: "Region", plural: "regionses" } };
        const objects = [
            ...[object("v1", "Namespace", { name: "shop-agent" }), object("apps/v1", "DaemonSet", {})],
            ...[object(rbac, "ClusterRole", {}), object(rbac, "RoleBinding", { namespace: "kube-system" })],
            ...[object("vendor.io/v1", "Region", {}), object("other.io/v1", "ClusterPolicy", {})],
            object("apiextensions.k8s.io/v1", "CustomResourceDefinition", {}, { spec: definition }),
        ];
        writeFileSync(manifest, objects.join("\n---\n"));
        const settings = ["--set", "agent.install=manifest", "--set", `agent.manifest=${manifest}`];
        const roles = await rolesOf(...settings);
        const named = (kind: string, namespace?: string) =>
            roles
                .filter(({ kind: found, metadata }) => found === kind && metadata.namespace === namespace)
                .flatMap(({ rules }) => rules as Record<string, any>[])
                .filter(({ resourceNames }) => String(resourceNames) === "vendor")
                .map(({ apiGroups, resources, verbs }) => [apiGroups, resources, verbs].join(" "));
        expect(named("ClusterRole").sort()).toEqual([
            "apiextensions.k8s.io customresourcedefinitions get",
            "other.io clusterpolicies get",
            "rbac.authorization.k8s.io clusterroles get",
            "vendor.io regionses get",
        ]);
        expect(named("Role", "kube-system")).toEqual(["rbac.authorization.k8s.io rolebindings get"]);
        expect(named("Role", "shop-agent")).toEqual([]);
        writeFileSync(manifest, "kind: DaemonSet");
        await expect(rolesOf(...settings)).rejects.toThrow(
            `agent.manifest is "${manifest}", which is not a manifest: line 1, column 1: apiVersion is missing`,
        );
    });

    it("lets an account run nothing in pods, if the stack accepts that outward is not proven", async () => {
        const rolesWithExec = async (...args: string[]) =>
            (await rolesOf(...args)).filter((role) => rulesFor([role], "pods/exec").length > 0);
        const names = async (...args: string[]) =>
            (await rolesWithExec(...args)).map(({ metadata }) => metadata.name as string);
        expect(await names()).toEqual(["chaos-shop-toys-blackhole"]);
        expect(await names("--stack", "unproven")).toEqual(["chaos-shop-toys-blackhole-optional"]);
    });

    it("follows the stack's settings: without an agent nobody reads Secrets", async () => {
        expect(rulesFor(await rolesOf(), "secrets")).toHaveLength(1);
        expect(rulesFor(await rolesOf("--stack", "bare"), "secrets")).toEqual([]);
        expect(rulesFor(await rolesOf("--set", "agent.enabled=false"), "secrets")).toEqual([]);
    });

    it("joins the rights of several experiments, each once", async () => {
        const roles = await rolesOf("hot-deals-kill", "hot-deals-blackhole", "hot-deals-kill");
        expect(roles[0]!.metadata.name).toBe("chaos-shop-experiments");
        const [pods] = rulesFor(roles.slice(0, 1), "pods");
        expect(pods!.verbs).toEqual(["get", "list", "patch", "delete"]);
    });

    it("takes all experiments that the variant fits", async () => {
        expect(await manifestOf("--all")).not.toContain("orders-kill");
        expect(await manifestOf("--all", "--variant", "seven")).toContain("orders-kill");
    });

    it("binds the roles to users and groups", async () => {
        const bindings = (await rolesOf("--subject", "ada", "--group", "testers")).filter(({ subjects }) => subjects);
        expect(bindings).toHaveLength(6);
        for (const { subjects } of bindings)
            expect((subjects as Record<string, string>[]).map(({ kind, name }) => [kind, name])).toEqual([
                ["User", "ada"],
                ["Group", "testers"],
            ]);
    });

    it.each([
        [
            ["hot-deal-blackhole", "x"],
            /no saved experiment "hot-deal-blackhole" and "x"; allowed: .*hot-deals-blackhole/,
        ],
        [["--all", "hot-deals-kill"], "--all is for all experiments: omit hot-deals-kill"],
        [["--out", "there"], "--out does not go with --permissions"],
        [["--stack", "gone"], 'there is no stack "gone"'],
        [["orders-kill"], /experiment\.name is "orders-kill": it needs variant seven/],
        [["--set", "agent.key=secret-in-arguments"], "--set agent.key would expose a secret"],
    ])("%j is refused", (args, reason) => expect(() => optionsOf(...args)).toThrow(reason));
});
