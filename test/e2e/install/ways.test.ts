import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { render } from "../../../cli/rendering/render";
import { renderOptions, type RenderOptions } from "../../../cli/render";
import { Repository } from "../repository";
import { quick, shownIn, TestStack } from "../shop/support";
import { inOrder } from "../../support/in-order";

const namespace = "e2e-ways";
const noImage = "docker.io/library/node:20.0.0-none";
let stack: TestStack;
let repository: Repository;
/** The rendered manifests, in one. */
let manifest: string;

beforeAll(async () => {
    stack = await TestStack.open(namespace);
    repository = await Repository.open();
    const out = join(repository.folder, "shop");
    const { configuration } = renderOptions(["--out", out, "--set", `namespace=${namespace}`]) as RenderOptions;
    await render(configuration, out);
    repository.addChart(join(out, "chart"));
    const texts = readdirSync(join(out, "manifests"))
        .sort()
        .map((file) => readFileSync(join(out, "manifests", file), "utf8"));
    manifest = texts.join("---\n");
});
afterAll(async () => {
    repository.close();
    await stack.close();
});

/** The names of all that a shop is made of, in the namespace. What the cluster itself puts there is left out. */
function objects(): string[] {
    const accounts = "serviceaccount,role,rolebinding";
    const kinds = `deployment,service,configmap,secret,${accounts},networkpolicy,ingress,persistentvolumeclaim`;
    const found = execFileSync("kubectl", ["get", kinds, "--namespace", namespace, "--output", "name"], {
        encoding: "utf8",
    })
        .trim()
        .split("\n");
    return found.filter((name) => !["configmap/kube-root-ca.crt", "serviceaccount/default"].includes(name)).sort();
}

/** What all shops of this file consist of. */
let shop: string[];

describe("a shop from the program", () => {
    it("has the objects that a shop from a chart or a manifest must have", async () => {
        await stack.up();
        shop = objects();
        expect(shop).toContain("deployment.apps/gateway");
    });
});

describe("a shop from a chart", () => {
    const passwords = ["password-of-the-first-values", "password-of-the-second-values"];
    /** The engine's events, and what Pulumi prints: diffs with it. */
    let shown = "";
    beforeAll(() => {
        stack.onEvent = (event) => (shown += JSON.stringify(event));
        stack.onOutput = (text) => (shown += text);
    });
    afterAll(() => {
        stack.onEvent = stack.onOutput = undefined;
    });

    it("fails the update if it does not become ready; the error names its pods and the reason", async () => {
        const values = repository.keep(
            "values.yaml",
            `images: { node: "${noImage}" }\naccounts: { password: ${passwords[0]} }\n`,
        );
        const error = await stack.failingUp({
            install: "chart",
            "chart.repo": repository.url,
            "chart.name": "chaos-shop",
            "chart.values": values,
            "install.timeout": "60s",
        });
        expect(error).toMatch(
            inOrder(
                /the shop is not ready after 1 min: \d of 5 pods are ready\.\n/,
                / +pod e2e-ways\/gateway-\S+: container gateway: /,
                "Image",
            ),
        );
    });

    it("is fixed by the next update: the program's objects are gone, and /products is complete", async () => {
        repository.keep("values.yaml", `accounts: { password: ${passwords[1]} }\n`);
        const { outputs } = await stack.up({
            "install.timeout": "2m",
            "ingress.hosts": "shop.example.com,www.example.com",
        });
        expect(outputs.productsUrl!.value).toMatch(/^http:\/\/[\d.]+\/products$/);
        expect((await stack.products()).good).toBe(true);
        expect(objects().filter((name) => !/^secret\/sh\.helm\.release|ingress/.test(name))).toEqual(shop);
    });

    it("shows no password of its values file, neither in the state nor in a diff, when the file changes", async () => {
        expect(shown).toContain("values");
        const everything = shown + stack.said + (await stack.state());
        expect(passwords.filter((password) => everything.includes(password))).toEqual([]);
    });

    it("has the stack's hosts in its Ingress", async () => {
        const { spec } = await stack.cluster.networking.readNamespacedIngress({ name: "gateway", namespace });
        expect(spec!.rules!.map(({ host }) => host)).toEqual(["shop.example.com", "www.example.com"]);
    });

    it("is not changed by an update with refresh", async () => expect((await stack.refresh()).changes).toEqual([]));

    it("has attributes by which an experiment finds its targets", async () => {
        expect(await stack.run({ ...quick, "experiment.enabled": "true" })).toMatchObject({
            verdict: "FAILED",
            targets: [expect.stringMatching(/^e2e-ways\/hot-deals-[^/]+\/hot-deals$/)],
        });
        await stack.up({ "experiment.enabled": "false" });
        expect(await stack.traces()).toEqual([]);
        expect((await stack.products()).good).toBe(true);
    });
});

describe("a shop from a manifest", () => {
    it("replaces the chart: nothing of the chart is left, and /products is complete", async () => {
        // Only the program and a chart have an Ingress of the stack's.
        stack.unset("ingress.hosts");
        const { outputs } = await stack.up({
            install: "manifest",
            manifest: repository.publish("/shop.yaml", manifest),
        });
        expect(outputs.productsUrl!.value).toMatch(/^http:\/\/[\d.]+\/products$/);
        expect((await stack.products()).good).toBe(true);
        expect(objects()).toEqual(shop);
        const found = await stack.cluster.core.readNamespace({ name: namespace });
        expect(found.metadata!.labels).toMatchObject({ "pod-security.kubernetes.io/enforce": "restricted" });
    });

    it("is not changed by an update with refresh", async () => expect((await stack.refresh()).changes).toEqual([]));

    it("has attributes by which an experiment finds its targets", async () => {
        await stack.preview({ ...quick, "experiment.enabled": "true" });
        expect(stack.said.split("would hit").at(-1)).toMatch(/^ 1 container of 1 .*hot-deals-\S+\/hot-deals/);
        stack.set({ "experiment.enabled": "false" });
    });

    it("has no readable password in the state", async () => {
        const kept = (await stack.state()) + stack.said;
        expect(shownIn(kept, await stack.databasePasswords())).toEqual([]);
    });
});

it("the program replaces the manifest: nothing of the manifest is left, and /products is complete", async () => {
    await stack.up({ install: "program" });
    expect((await stack.products()).good).toBe(true);
    expect(objects()).toEqual(shop);
});

it("destroying the stack leaves nothing in the cluster", async () => {
    await stack.destroy();
    expect(await stack.exists()).toBe(false);
});
