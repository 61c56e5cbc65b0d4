import { load } from "js-yaml";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { render } from "../../../../cli/rendering/render";
import { installCommands, renderOptions } from "../../../../cli/render";
import { Shop } from "../../../../components/shop/shop";
import { recordGraph } from "../../graph/support";
import { scratchFolder } from "../../../support/scratch";

const folder = scratchFolder();
const out = join(folder, "seven");
const configuration = () => {
    const settings = ["--set", "namespace=shop-1", "--set", "ingress.hosts=shop.example.com"];
    const options = renderOptions(["--out", join(folder, "nothing"), "--variant", "seven", ...settings]);
    if (!("configuration" in options)) throw new Error("that is for roles");
    return options.configuration;
};
const filesIn = (path: string) =>
    readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .sort();
const textsIn = (path: string) =>
    Object.fromEntries(filesIn(path).map((file) => [file.slice(path.length), readFileSync(file, "utf8")]));
const manifests = () =>
    filesIn(join(out, "manifests")).map((file) => load(readFileSync(file, "utf8")) as Record<string, any>);
const passwords = () =>
    manifests()
        .filter(({ kind }) => kind === "Secret")
        .flatMap(({ data }) => Object.values(data as Record<string, string>))
        .flatMap((encoded) => [encoded, Buffer.from(encoded, "base64").toString()]);

beforeAll(() => render(configuration(), out));

describe("rendered manifests", () => {
    it("are exactly the objects that the program creates for these settings", async () => {
        const asked = await recordGraph(async () => new Shop("shop", configuration()));
        const names = (objects: { kind: string; name: string }[]) =>
            objects.map(({ kind, name }) => `${kind} ${name}`).sort();
        const made = asked
            .filter(({ type }) => type.startsWith("kubernetes:"))
            .map(({ inputs }) => ({ kind: inputs.kind, name: inputs.metadata.name }));
        expect(names(manifests().map(({ kind, metadata }) => ({ kind, name: metadata.name })))).toEqual(names(made));
    });

    it("name the namespace, which comes first", () => {
        expect(manifests()[0]).toMatchObject({
            kind: "Namespace",
            metadata: { name: "shop-1", labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
        });
        for (const { kind, metadata } of manifests().slice(1))
            expect([kind, metadata.name, metadata.namespace]).toEqual([kind, metadata.name, "shop-1"]);
    });

    it("mention neither Pulumi nor a stack", () => {
        for (const text of Object.values(textsIn(join(out, "manifests"))))
            expect(text).not.toMatch(/pulumi|chaos-shop\/stack/i);
    });

    it("are small enough for the annotation in which kubectl keeps a copy (256 KiB)", () => {
        for (const object of manifests())
            expect([object.metadata.name, JSON.stringify(object).length < 262_144]).toEqual([
                object.metadata.name,
                true,
            ]);
    });

    it("have passwords only in Secrets, whose files only their owner may read", () => {
        expect(passwords()).toHaveLength(2 * 6);
        for (const file of filesIn(out)) {
            const secret = file.includes("-secret-") && file.includes("/manifests/");
            if (secret) expect(statSync(file).mode & 0o777).toBe(0o600);
            else
                expect([file, passwords().some((password) => readFileSync(file, "utf8").includes(password))]).toEqual([
                    file,
                    false,
                ]);
        }
    });
});

describe("rendering again", () => {
    it("into the same folder gives the same files and passwords, and removes any other file", async () => {
        const before = textsIn(out);
        writeFileSync(join(out, "manifests", "9-deployment-old.yaml"), "left over");
        await render(configuration(), out);
        expect(textsIn(out)).toEqual(before);
    });

    it("into another folder gives the same chart and new passwords, which restart the pods that use them", async () => {
        await render(configuration(), join(folder, "again"));
        expect(textsIn(join(folder, "again", "chart"))).toEqual(textsIn(join(out, "chart")));
        const version = (path: string) =>
            /name: CREDENTIALS\n +value: (\S+)/.exec(
                readFileSync(join(path, "manifests", "9-deployment-database.yaml"), "utf8"),
            )![1];
        expect(version(join(folder, "again"))).not.toBe(version(out));
    });
});

describe("a rendered chart", () => {
    const template = (file: string) => readFileSync(join(out, "chart", "templates", file), "utf8");

    it("has values named like the settings that it leaves open", () => {
        expect(load(readFileSync(join(out, "chart", "values.yaml"), "utf8"))).toMatchObject({
            ingress: { hosts: ["shop.example.com"], class: "", tlsSecret: "" },
            gateway: { serviceType: "LoadBalancer" },
            images: { node: expect.stringContaining("node:"), postgres: expect.any(String), nats: expect.any(String) },
        });
        expect(template("deployment-orders.yaml")).toContain("image: '{{ .Values.images.node }}'");
        expect(template("service-gateway.yaml")).toContain("type: '{{ .Values.gateway.serviceType }}'");
    });

    it("uses the namespace of its release throughout", () => {
        for (const [file, text] of Object.entries(textsIn(join(out, "chart", "templates"))))
            expect([file, text.includes("shop-1")]).toEqual([file, false]);
        expect(template("rolebinding-gateway.yaml").match(/namespace: '\{\{ \.Release\.Namespace \}\}'/g)).toHaveLength(
            2,
        );
    });

    it("generates its passwords in the cluster, and tells the pods their version", () => {
        expect(template("secret-database-accounts.yaml")).toMatch(
            /^data: \{\{ include "passwords" .*"inventory" "orders" "owner" "reader"/m,
        );
        expect(template("deployment-database.yaml")).toMatch(
            /name: CREDENTIALS\n +value: '\{\{ include "passwordsVersion" .*database-accounts/,
        );
        expect(template("deployment-orders.yaml")).toMatch(
            /name: BROKER_CREDENTIALS\n +value: '\{\{ include "passwordsVersion" .*message-broker-accounts/,
        );
    });
});

describe("npm run render rejects", () => {
    const refusals: [string, string[], RegExp][] = [
        ["no folder", [], /--out DIR is missing/],
        ["roles without --permissions", ["hot-deals-kill", "--out", "x"], /only for --permissions/],
        [
            "a setting that does not affect the shop",
            ["--out", "x", "--set", "experiment.enabled=true"],
            /experiment\.enabled does not affect the rendering; allowed: variant, namespace/,
        ],
        [
            "a setting without the one that it needs",
            ["--out", "x", "--set", "ingress.class=nginx"],
            /ingress\.class is "nginx": .*; use --set ingress\.hosts=shop\.example\.com$/,
        ],
        ["a folder that is not empty", ["--out", __dirname], /is not empty; .*--force/],
    ];
    it.each(refusals)("%s", (_, args, expected) => expect(() => renderOptions(args)).toThrow(expected));
});

it.each([
    [
        "the stack's context, if its file has one",
        "config: { kube.context: my cluster }",
        " --kube-context 'my cluster'",
    ],
    ["no context otherwise: a rendering is of no cluster", "config: {}", ""],
])("the commands that install a rendering name %s", (_, file, flag) => {
    writeFileSync(join(folder, "Pulumi.cloud.yaml"), file);
    const options = renderOptions(["--out", join(folder, "it"), "--stack", "cloud"], folder);
    const [kubectl, helm] = installCommands(options as Parameters<typeof installCommands>[0]);
    expect(kubectl).toBe(`kubectl${flag.replace("--kube-", "--")} apply --filename ${join(folder, "it")}/manifests`);
    expect(helm).toContain(`helm upgrade --install${flag} --wait `);
});
