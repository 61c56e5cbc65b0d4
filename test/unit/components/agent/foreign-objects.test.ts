import * as pulumi from "@pulumi/pulumi";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { checkedAgent } from "../../../../components/agent/agent";
import type { StackCluster } from "../../../../components/cluster/cluster";
import type { StackConfiguration } from "../../../../components/configuration/read";
import { connect } from "../../../../chaos/cluster/client";
import {
    guardedObject,
    outsideOf,
    placesOf,
    requireNoForeignObjects,
    requireNotOfShop,
} from "../../../../components/agent/foreign-objects";
import { readerOf } from "../../../../components/cluster/reading";
import { kindsOf } from "../../../../components/manifest/kinds";
import type { ManifestObject } from "../../../../components/manifest/read";
import { runAs } from "../../../support/running-stack";
import { kubeconfigOf } from "../../../support/kubeconfig";
import { scratchFolder } from "../../../support/scratch";
import { type Served, servingObjects } from "../../../support/serving";

beforeAll(() => runAs("local"));

const owner = { stack: "local", identity: "0123456789abcdef" };
const own = { "chaos-shop/stack": "local", "chaos-shop/identity": "0123456789abcdef" };
const role: ManifestObject = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "Vendor" },
};
const settings: ManifestObject = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "settings", namespace: "kube-system" },
};

const source = 'agent.manifest is "agent.yaml"';
const lookUp = async (_: string, kind: string) => ({
    name: `${kind.toLowerCase()}s`,
    namespaced: kind === "ConfigMap",
    verbs: ["get", "patch", "delete"],
});
const placed = (object: ManifestObject) => placesOf([object], { source, namespace: "demo-agent" }, lookUp);

/** The refusal of a manifest whose objects are in the cluster with this metadata. Undefined if it may be installed. */
const refusal = async (object: ManifestObject, metadata?: object) =>
    requireNoForeignObjects(
        outsideOf(["demo-agent", "demo"], await placed(object)),
        { source, instead: "", owner, context: "kind-a" },
        async () => metadata && { metadata: { ...object.metadata, ...metadata } },
    ).then(
        () => undefined,
        ({ message }: Error) => message,
    );

it("an agent's manifest with the shop's namespace is refused: it would be deleted with the agent", () => {
    const of = (name: string) => [{ apiVersion: "v1", kind: "Namespace", metadata: { name } }];
    expect(() => requireNotOfShop(of("demo"), source, "demo")).toThrow(/has the shop's namespace demo: without/);
    expect(() => requireNotOfShop(of("demo-agent"), source, "demo")).not.toThrow();
});

describe("an agent's manifest changes nothing that exists and is somebody else's:", () => {
    it("an object of the whole cluster is refused, with who made it and the command that hands it over", async () => {
        const labels = { "app.kubernetes.io/managed-by": "Helm" };
        const refused = await refusal(role, { labels, managedFields: [{ manager: "helm" }, { manager: "kubectl" }] });
        expect(refused).toContain(
            "ClusterRole Vendor: it exists and belongs to no stack (field managers: helm, kubectl; " +
                "labels: app.kubernetes.io/managed-by=Helm)",
        );
        expect(refused).toContain(
            "kubectl --context kind-a annotate --overwrite ClusterRole.v1.rbac.authorization.k8s.io Vendor " +
                "chaos-shop/stack=local",
        );
    });

    it("so is one in another namespace, with its place", async () => {
        const refused = await refusal(settings, { annotations: { ...own, "chaos-shop/identity": "another" } });
        expect(refused).toContain('ConfigMap kube-system/settings: it belongs to another stack named "local"');
        expect(refused).toContain(
            "annotate --overwrite --namespace kube-system ConfigMap settings " +
                "chaos-shop/stack=local chaos-shop/identity-",
        );
    });

    it.each([
        ["that does not exist", role, undefined],
        ["that this stack made, such as by an update that was killed", role, { annotations: own }],
        ["that its user handed over", role, { annotations: { "chaos-shop/stack": "local" } }],
        ["in a namespace of the stack", { ...settings, metadata: { name: "a", namespace: "demo" } }, {}],
        ["that is such a namespace", { apiVersion: "v1", kind: "Namespace", metadata: { name: "demo-agent" } }, {}],
    ])("but not one %s", async (_, object, metadata) => expect(await refusal(object, metadata)).toBeUndefined());
});

it("what pulumi destroy compares has its place in the API, and how kubectl names it", async () => {
    const [settingsOf] = (await placed(settings)).map(guardedObject);
    expect(settingsOf).toEqual({
        path: "/api/v1/namespaces/kube-system/configmaps/settings",
        words: ["--namespace", "kube-system", "ConfigMap", "settings"],
    });
    const [roleOf] = (await placed(role)).map(guardedObject);
    expect(roleOf!.path).toBe("/apis/rbac.authorization.k8s.io/v1/clusterroles/Vendor");
});

describe("the cluster is asked for an object", () => {
    const objects: Served = {
        "/apis/rbac.authorization.k8s.io/v1": {
            resources: [
                { name: "clusterroles", kind: "ClusterRole", namespaced: false, verbs: ["get", "patch", "delete"] },
            ],
        },
        "/api/v1": {
            resources: [
                { name: "configmaps", kind: "ConfigMap", namespaced: true, verbs: ["get", "patch", "delete"] },
                { name: "bindings", kind: "Binding", namespaced: true, verbs: ["create"] },
                { name: "pods/eviction", kind: "Eviction", namespaced: true, verbs: ["create"] },
            ],
        },
        "/apis/rbac.authorization.k8s.io/v1/clusterroles/Vendor": { metadata: { name: "Vendor" } },
        "/api/v1/namespaces/kube-system/configmaps/settings": { metadata: { name: "settings" } },
        "/api/v1/namespaces/demo-agent/configmaps/other": { metadata: { name: "other" } },
    };
    const config = join(scratchFolder(), "config");
    const server = servingObjects(objects);
    beforeAll(() => {
        writeFileSync(config, kubeconfigOf("loaded-context", server.url));
        vi.stubEnv("KUBECONFIG", config);
    });
    afterAll(() => void vi.unstubAllEnvs());

    it.each([
        ["of the whole cluster, by its name as it is written", role, "Vendor"],
        ["in the namespace that it names", settings, "settings"],
        ["in the agent's namespace if it names none", { ...settings, metadata: { name: "other" } }, "other"],
        ["that does not exist", { ...role, metadata: { name: "vendor" } }, undefined],
    ])("%s", async (_, object, found) => {
        const [place] = await places([object]);
        expect((await readerOf(connect({}).kubeconfig)(place!.path))?.metadata?.name).toBe(found);
    });

    it("that the builtin agent would take over: it is refused, before anything is touched", async () => {
        const annotations = { ...own, "chaos-shop/identity": "another" };
        for (const [plural, found] of Object.entries({ clusterroles: { annotations }, clusterrolebindings: {} }))
            objects[`/apis/rbac.authorization.k8s.io/v1/${plural}/chaos-shop-agent-demo`] = { metadata: found };
        const agent = { install: "builtin", namespace: "demo-agent", key: "a-key" };
        const cluster = { api: connect({}), context: { name: "kind-a" }, identity: pulumi.output(owner.identity) };
        const checked = checkedAgent(
            "agent",
            { agent, clusterName: "c", namespace: "demo", images: {} } as unknown as StackConfiguration,
            cluster as unknown as StackCluster,
        );
        await expect(checked).rejects.toThrow(
            'agent.install is "builtin", which has objects that exist and are not this stack\'s. They were left as ' +
                'they are.\n  ClusterRole chaos-shop-agent-demo: it belongs to another stack named "local"',
        );
        await expect(checked).rejects.toThrow(
            "ClusterRoleBinding chaos-shop-agent-demo: it exists and belongs to no stack",
        );
        await expect(checked).rejects.toThrow("To do without an agent: npx pulumi config set agent.enabled false");
    });

    const places = (objects: ManifestObject[]) =>
        placesOf(objects, { source, namespace: "demo-agent" }, kindsOf(readerOf(connect({}).kubeconfig)));

    it("of a kind that the manifest itself brings, in its namespace or in the whole cluster", async () => {
        const definition = (kind: string, scope: string): ManifestObject => ({
            apiVersion: "apiextensions.k8s.io/v1",
            kind: "CustomResourceDefinition",
            metadata: { name: kind },
            spec: { group: "vendor.io", scope, names: { kind, plural: `${kind.toLowerCase()}s` } },
        });
        const own = (kind: string) => ({ apiVersion: "vendor.io/v1", kind, metadata: { name: "a" } });
        const defining = [definition("Probe", "Namespaced"), definition("Region", "Cluster")];
        objects["/apis/apiextensions.k8s.io/v1"] = {
            resources: [
                {
                    name: "customresourcedefinitions",
                    kind: "CustomResourceDefinition",
                    namespaced: false,
                    verbs: ["patch", "delete"],
                },
            ],
        };
        const found = await places([...defining, own("Probe"), own("Region")]);
        expect(found.slice(2).map(({ path }) => path)).toEqual([
            "/apis/vendor.io/v1/namespaces/demo-agent/probes/a",
            "/apis/vendor.io/v1/regions/a",
        ]);
    });

    it("unless the cluster keeps no objects of its kind, or does not know it, which is said", async () => {
        const of = (apiVersion: string, kind: string) => ({ apiVersion, kind, metadata: { name: "a" } });
        const unknown = [of("v1", "Eviction"), of("vendor.io/v1", "Agent"), of("apps/v1/deployments", "Deployment")];
        const { message } = await places([of("v1", "Binding"), ...unknown]).then(
            () => Promise.reject(new Error("it was read")),
            (error: Error) => error,
        );
        expect(message).toContain(
            'agent.manifest is "agent.yaml", which has objects that cannot be installed. Nothing was touched.\n' +
                "  Binding a: it cannot be installed; of its kind, the cluster allows only create\n" +
                "  Eviction a: the cluster has no kind Eviction in v1\n" +
                "  Agent a: the cluster has no kind Agent in vendor.io/v1\n" +
                "  Deployment a: the cluster has no kind Deployment in apps/v1/deployments\n" +
                "  To use a manifest without them: npx pulumi config set agent.manifest 'PATH or URL'",
        );
    });
});
