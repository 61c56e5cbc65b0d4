import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type KindLookup, readShopManifest } from "../../../components/install/shopManifest";

const folder = mkdtempSync(join(tmpdir(), "chaos-shop-manifest-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A cluster that knows a few kinds. */
const lookUp: KindLookup = async (apiVersion, kind) => {
    const known: Record<string, boolean> = {
        "v1 Namespace": false,
        "v1 ConfigMap": true,
        "apps/v1 Deployment": true,
        "rbac.authorization.k8s.io/v1 ClusterRole": false,
    };
    const namespaced = known[`${apiVersion} ${kind}`];
    return namespaced === undefined ? undefined : { namespaced };
};

function read(text: string) {
    writeFileSync(join(folder, "shop.yaml"), text);
    return readShopManifest(join(folder, "shop.yaml"), "demo", lookUp);
}
const refusal = (text: string) =>
    read(text).then(
        () => Promise.reject(new Error("it was read")),
        (error: Error) => error.message,
    );

describe("a shop's manifest", () => {
    it("may name the shop's namespace, or none", async () => {
        const { objects } = await read(
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: demo}}",
        );
        expect(objects.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
    });

    it("may bring the namespace itself, whose labels the stack's own then has", async () => {
        const { objects, namespaceLabels } = await read(
            "{apiVersion: v1, kind: Namespace, metadata: {name: demo, labels: {level: high}}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
        );
        expect(objects).toHaveLength(1);
        expect(namespaceLabels).toEqual({ level: "high" });
    });

    it("is refused with all that may not be in it, each by kind and name", async () => {
        const message = await refusal(`
{apiVersion: v1, kind: ConfigMap, metadata: {name: stray, namespace: kube-system}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: elsewhere}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: everything}}
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: thing}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: gateway}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: gateway, namespace: demo}}
`);
        expect(message.split("\n").filter((line) => line.startsWith("  "))).toEqual([
            "  ConfigMap stray: it goes into namespace kube-system",
            "  Namespace elsewhere: it belongs to no namespace, but to the whole cluster",
            "  ClusterRole everything: it belongs to no namespace, but to the whole cluster",
            "  Widget thing: the cluster knows no kind Widget of example.com/v1",
            "  Deployment gateway: it is there twice",
        ]);
        expect(message).toMatch(
            /shop\.yaml", which this stack may not install\. Nothing was touched\.(.|\n)*pulumi config set manifest/,
        );
    });

    it.each([
        ["is no YAML", "kind: [", /which is no manifest: allowed is YAML/],
        ["is empty", "", /which is empty/],
    ])("is refused where it %s", async (_, text, expected) => expect(await refusal(text)).toMatch(expected));
});
