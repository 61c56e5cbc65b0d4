import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readObjects } from "../../../../components/manifest/read";
import { scratchFolder } from "../../../support/scratch";
import { serving } from "../../../support/serving";

const folder = scratchFolder();
const file = join(folder, "shop.yaml");
const server = serving((_, response) => response.end("\n<!DOCTYPE html><html><body>Log in</body></html>"));

function read(text: string, namespace?: string) {
    writeFileSync(file, text);
    return readObjects(file, namespace);
}
const refusal = (reading: Promise<unknown>) =>
    reading.then(
        () => Promise.reject(new Error("it was read")),
        (error: Error) => error.message,
    );
const named = async (text: string) =>
    (await read(text)).map(({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.name}`);

describe("the objects of a manifest", () => {
    it("are those of its documents, without empty ones", async () => {
        expect(await named("---\n{apiVersion: v1, kind: Secret, metadata: {name: a}}\n---\nnull\n---\n# end")).toEqual([
            "v1 Secret a",
        ]);
        expect(await named("# nothing\n")).toEqual([]);
        expect(await named("")).toEqual([]);
    });

    it("are the items of lists, also of a kind, which they then need not say", async () => {
        expect(
            await named(`
apiVersion: v1
kind: List
items:
  - { apiVersion: v1, kind: Secret, metadata: { name: a } }
  - apiVersion: v1
    kind: ConfigMapList
    items: [{ metadata: { name: b } }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleList
metadata: { resourceVersion: "7" }
items:
  - metadata: { name: c }
---
{ apiVersion: v1, kind: SecretList, items: }
---
{ apiVersion: example.com/v1, kind: AllowList, metadata: { name: d }, spec: {} }
`),
        ).toEqual([
            "v1 Secret a",
            "v1 ConfigMap b",
            "rbac.authorization.k8s.io/v1 Role c",
            "example.com/v1 AllowList d",
        ]);
    });

    it("have their modes as kubectl reads them", async () => {
        const [object] = await read(
            "apiVersion: v1\nkind: Pod\nmetadata: { name: a, labels: &l { app: a } }\n" +
                "spec: { volumes: [{ secret: { defaultMode: 0400 } }], nodeSelector: { <<: *l } }\n",
        );
        expect(object!.spec).toEqual({ volumes: [{ secret: { defaultMode: 256 } }], nodeSelector: { app: "a" } });
    });

    it("have no labels and annotations if these have no value", async () => {
        const [object] = await read(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels:\n  annotations:\ndata:\n",
        );
        expect(object).toEqual({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: null });
    });

    it("may have the same name in other namespaces or groups, and an empty namespace for none", async () => {
        const objects = await read(
            "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: ''}}\n---\n" +
                "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: other}}\n---\n" +
                "{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: a}}",
            "demo",
        );
        expect(objects.map(({ metadata }) => metadata)).toEqual([
            { name: "a" },
            { name: "a", namespace: "other" },
            { name: "a" },
        ]);
    });
});

describe("a manifest is rejected with the lines of all its mistakes:", () => {
    const start = "apiVersion: v1\nkind: Secret\n";
    it.each([
        ["no kind", "apiVersion: v1\nmetadata: { name: a }", "line 1, column 1: kind is missing"],
        ["no name", `# first\n${start}`, "line 2, column 1: metadata.name is missing"],
        [
            "a name that is a number",
            `${start}metadata: { name: 1 }`,
            "line 1, column 1: metadata.name is a number, not text",
        ],
        [
            "a label that is a boolean",
            `${start}metadata: { name: a, labels: { debug: yes } }`,
            "line 1, column 1: metadata.labels.debug is a boolean, not text; text may need quotes",
        ],
        [
            "labels that are a list",
            `${start}metadata: { name: a, labels: [app] }`,
            "line 1, column 1: metadata.labels is a list, not a mapping",
        ],
        [
            "a name for each update",
            `${start}metadata: { generateName: a- }`,
            "metadata.generateName would make another",
        ],
        ["an empty name", `${start}metadata: { name: "" }`, "line 1, column 1: metadata.name is missing"],
        [
            "an item of a list in a list",
            "apiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    kind: SecretList\n    items:\n" +
                "      - { data: {} }\n",
            "line 7, column 9: metadata.name is missing",
        ],
        ["text", "hello", "line 1, column 1: this is text, not an object"],
        ["an item without content", "apiVersion: v1\nkind: List\nitems:\n  -\n", "this is null, not an object"],
        ["an anchor in itself", `${start}metadata: { name: a }\nx: &x { y: *x }`, "an anchor contains itself"],
        [
            "an object twice",
            `${start}metadata: { name: a }\n---\n${start}metadata: { name: a, namespace: demo }`,
            "line 5, column 1: Secret a occurs twice, first in line 1",
        ],
        [
            "an object twice, in two versions",
            "apiVersion: v1\nkind: List\nitems:\n" +
                "  - { apiVersion: apps/v1, kind: Deployment, metadata: { name: a } }\n" +
                "  - { apiVersion: apps/v1beta1, kind: Deployment, metadata: { name: a } }\n",
            "line 5, column 5: Deployment a occurs twice, first in line 4",
        ],
        [
            "several",
            "kind: A\n---\nkind: B",
            /line 1, column 1: apiVersion is missing; line 3, column 1: apiVersion is missing/,
        ],
        [
            "a mistake of YAML",
            "a: [",
            /line 2, column 1: unexpected end of the stream within a flow collection; allowed: YAML/,
        ],
    ])("%s", async (_, text, expected) => {
        const message = await refusal(read(text, "demo"));
        expect(message).toMatch(/^is not a manifest: line \d+, column \d+: .*; allowed: YAML objects with apiVersion/);
        expect(message).toMatch(expected);
    });

    it("a folder", async () =>
        expect(await refusal(readObjects(folder))).toBe("is a folder; allowed: one file, or a URL"));
    it("a web page", async () => {
        expect(await refusal(readObjects(`${server.url}/shop.yaml`))).toBe(
            "is a web page, not a manifest; use the URL of the file itself",
        );
    });
});
