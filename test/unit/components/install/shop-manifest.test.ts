import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readShopManifest } from "../../../../components/install/shop-manifest";
import type { KindLookup } from "../../../../components/manifest/kinds";
import { scratchFolder } from "../../../support/scratch";

const folder = scratchFolder();

/** A cluster that knows a few kinds. */
const lookUp: KindLookup = async (apiVersion, kind) => {
    const known: Record<string, boolean> = {
        "authorization.k8s.io/v1 LocalSubjectAccessReview": true,
        "v1 Namespace": false,
        "v1 ConfigMap": true,
        "apps/v1 Deployment": true,
        "rbac.authorization.k8s.io/v1 ClusterRole": false,
    };
    const namespaced = known[`${apiVersion} ${kind}`];
    const verbs = kind.endsWith("Review")
        ? ["create"]
        : ["create", "delete", "get", "list", "patch", "update", "watch"];
    return namespaced === undefined ? undefined : { name: `${kind.toLowerCase()}s`, namespaced, verbs };
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
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n{apiVersion: v1, kind: " +
                "ConfigMap, metadata: {name: b, namespace: demo}}",
        );
        expect(objects.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
    });

    it("may contain the namespace itself, whose labels the stack then uses", async () => {
        const { objects, namespaceLabels } = await read(
            "{apiVersion: v1, kind: Namespace, metadata: {name: demo, labels: {level: " +
                "high}}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
        );
        expect(objects).toHaveLength(1);
        expect(namespaceLabels).toEqual({ level: "high" });
    });

    it("is rejected with a list of all forbidden objects, each by kind and name", async () => {
        const message = await refusal(`
{apiVersion: v1, kind: ConfigMap, metadata: {name: stray, namespace: kube-system}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: elsewhere}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: everything}}
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: thing}}
---
{apiVersion: authorization.k8s.io/v1, kind: LocalSubjectAccessReview, metadata: {name: question}}
`);
        expect(message.split("\n").filter((line) => line.startsWith("  "))).toEqual([
            "  ConfigMap stray: it is in namespace kube-system",
            "  Namespace elsewhere: it is cluster-wide, in no namespace",
            "  ClusterRole everything: it is cluster-wide, in no namespace",
            "  Widget thing: the cluster has no kind Widget in example.com/v1",
            "  LocalSubjectAccessReview question: it cannot be installed; of its kind, the cluster allows only create",
        ]);
        expect(message).toMatch(
            /shop\.yaml", which this stack may not install\. Nothing was touched\.(.|\n)*pulumi config set manifest/,
        );
    });

    it.each([
        ["is not YAML", "kind: [", /shop\.yaml", which is not a manifest: line 2, column 1: .*; allowed: YAML/],
        ["is empty", "", /which is empty/],
    ])("is rejected if it %s", async (_, text, expected) => expect(await refusal(text)).toMatch(expected));
});
