import { KubeConfig } from "@kubernetes/client-node";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../../../chaos/cluster/client";
import { objectsOf, requireNoForeignObjects, requireNotOfShop } from "../../../../components/agent/foreign-objects";
import type { ManifestObject } from "../../../../components/manifest/read";

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

/** The refusal of a manifest whose objects are in the cluster with this metadata. Undefined if it may be installed. */
const refusal = (object: ManifestObject, metadata?: object) =>
    requireNoForeignObjects(
        [object],
        { source: 'agent.manifest is "agent.yaml"', owner, context: "kind-a", namespaces: ["demo-agent", "demo"] },
        async () => metadata && { metadata: { ...object.metadata, ...metadata } },
    ).then(
        () => undefined,
        ({ message }: Error) => message,
    );

it("an agent's manifest with the shop's namespace is refused: it would be deleted with the agent", () => {
    const of = (name: string) => [{ apiVersion: "v1", kind: "Namespace", metadata: { name } }];
    const source = 'agent.manifest is "agent.yaml"';
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
        ["in a namespace of the stack", settings, { namespace: "demo-agent" }],
    ])("but not one %s", async (_, object, metadata) => expect(await refusal(object, metadata)).toBeUndefined());
});

describe("the cluster is asked for an object", () => {
    const objects: Record<string, object> = {
        "/apis/rbac.authorization.k8s.io/v1": {
            resources: [{ name: "clusterroles", kind: "ClusterRole", namespaced: false }],
        },
        "/api/v1": { resources: [{ name: "configmaps", kind: "ConfigMap", namespaced: true }] },
        "/apis/rbac.authorization.k8s.io/v1/clusterroles/Vendor": { metadata: { name: "Vendor" } },
        "/api/v1/namespaces/kube-system/configmaps/settings": { metadata: { name: "settings" } },
        "/api/v1/namespaces/demo-agent/configmaps/other": { metadata: { name: "other" } },
    };
    const folder = mkdtempSync(join(tmpdir(), "chaos-shop-foreign-"));
    const usual = process.env.KUBECONFIG;
    let server: Server;
    beforeAll(async () => {
        server = createServer(({ url }, response) => {
            const found = objects[new URL(url!, "http://api").pathname];
            response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
            response.end(JSON.stringify(found ?? { kind: "Status", code: 404, message: "not found" }));
        });
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        const kubeconfig = new KubeConfig();
        const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        kubeconfig.loadFromClusterAndUser({ name: "a", server: address, skipTLSVerify: true }, { name: "a" });
        process.env.KUBECONFIG = join(folder, "config");
        writeFileSync(process.env.KUBECONFIG, kubeconfig.exportConfig());
    });
    afterAll(() => {
        server.close();
        rmSync(folder, { recursive: true });
        if (usual === undefined) delete process.env.KUBECONFIG;
        else process.env.KUBECONFIG = usual;
    });

    it.each([
        ["of the whole cluster, by its name as it is written", role, "Vendor"],
        ["in the namespace that it names", settings, "settings"],
        ["in the agent's namespace if it names none", { ...settings, metadata: { name: "other" } }, "other"],
        ["that does not exist", { ...role, metadata: { name: "vendor" } }, undefined],
        [
            "of a kind that the manifest itself brings",
            { ...role, apiVersion: "vendor.io/v1", kind: "Agent" },
            undefined,
        ],
    ])("%s", async (_, object, found) => {
        const lookUp = objectsOf(connect({}), "demo-agent");
        expect((await lookUp(object))?.metadata?.name).toBe(found);
    });
});
