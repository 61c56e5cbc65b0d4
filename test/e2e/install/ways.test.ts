import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { render } from "../../../cli/rendering/render";
import { renderOptions, type RenderOptions } from "../../../cli/renderOptions";
import type { Conclusion } from "../../../experiments/journal";
import { Repository } from "../repository";
import { quick, TestStack } from "../shop/support";

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
    const kinds = "deployment,service,configmap,secret,serviceaccount,role,rolebinding,ingress,persistentvolumeclaim";
    const found = execFileSync("kubectl", ["get", kinds, "--namespace", namespace, "--output", "name"], {
        encoding: "utf8",
    })
        .trim()
        .split("\n");
    return found.filter((name) => !["configmap/kube-root-ca.crt", "serviceaccount/default"].includes(name)).sort();
}

const conclusionOf = (outputs: Record<string, { value: unknown }>) => outputs.experiment!.value as Conclusion;

/** One short experiment, and its undoing. */
async function isolateHotDeals(): Promise<Conclusion> {
    const { outputs } = await stack.up({ ...quick, "experiment.enabled": "true" });
    return conclusionOf(outputs);
}

/** What all shops of this file consist of. */
let shop: string[];

describe("by the program", () => {
    it("is what the others are held against", async () => {
        await stack.up();
        shop = objects();
        expect(shop).toContain("deployment.apps/gateway");
    });
});

describe("from a chart", () => {
    it("one that never gets ready fails the update with its pods and the reason", async () => {
        const values = repository.keep("values.yaml", `images: { node: "${noImage}" }\n`);
        const error = await stack.failingUp({
            install: "chart",
            "chart.repo": repository.url,
            "chart.name": "chaos-shop",
            "chart.values": values,
            "install.timeout": "40s",
        });
        expect(error).toMatch(
            /the shop is not ready after 40 s: \d of 5 pods are\.\n(.|\n)* +pod e2e-ways\/gateway-\S+: container gateway: .*Image/,
        );
    });

    it("and the next update mends it: the program's objects are gone, and /products is whole", async () => {
        repository.keep("values.yaml", "{}\n");
        const { outputs } = await stack.up({
            "install.timeout": "2m",
            "ingress.hosts": "shop.example.com,www.example.com",
        });
        expect(outputs.productsUrl!.value).toMatch(/^http:\/\/[\d.]+\/products$/);
        expect((await stack.products()).good).toBe(true);
        expect(objects().filter((name) => !/^secret\/sh\.helm\.release|ingress/.test(name))).toEqual(shop);
    });

    it("has the hosts of the stack on its Ingress", async () => {
        const { spec } = await stack.cluster.networking.readNamespacedIngress({ name: "gateway", namespace });
        expect(spec!.rules!.map(({ host }) => host)).toEqual(["shop.example.com", "www.example.com"]);
    });

    it("is left alone by the next update, which looks what has become of it", async () =>
        expect((await stack.refresh()).changes).toEqual([]));

    it("an experiment isolates what it finds by attributes", async () => {
        expect(await isolateHotDeals()).toMatchObject({
            verdict: "FAILED",
            targets: [expect.stringMatching(/^e2e-ways\/hot-deals-[^/]+\/hot-deals$/)],
        });
    });

    it("is changed for no other while that is under way", async () => {
        stack.unset("ingress.hosts");
        const error = await stack.failingUp({ install: "manifest", manifest: repository.keep("shop.yaml", manifest) });
        expect(error).toMatch(
            /install is "manifest", and the shop in namespace e2e-ways was installed as chart: an experiment has it.*Nothing was touched.*experiment\.enabled false/s,
        );
        await stack.up({ install: "chart", "experiment.enabled": "false" });
        expect(await stack.traces()).toEqual([]);
        expect((await stack.products()).good).toBe(true);
    });
});

describe("from a manifest", () => {
    it("is refused, before anything is touched, where it has what is not of the shop's namespace", async () => {
        const before = objects();
        const strays =
            "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: stray, namespace: default}}\n---\n{apiVersion: example.com/v1, kind: Widget, metadata: {name: thing}}\n---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: first}, value: 1}\n";
        const error = await stack.failingUp({
            install: "manifest",
            manifest: repository.publish("/strays.yaml", manifest + strays),
        });
        expect(error).toMatch(
            /ConfigMap stray: it goes into namespace default\n +Widget thing: the cluster knows no kind Widget of example\.com\/v1\n +PriorityClass first: it belongs to no namespace/,
        );
        expect(objects()).toEqual(before);
    });

    it("takes the place of the chart: nothing of that is left, and /products is whole", async () => {
        const { outputs } = await stack.up({ manifest: repository.publish("/shop.yaml", manifest) });
        expect(outputs.productsUrl!.value).toMatch(/^http:\/\/[\d.]+\/products$/);
        expect((await stack.products()).good).toBe(true);
        expect(objects()).toEqual(shop);
        const found = await stack.cluster.core.readNamespace({ name: namespace });
        expect(found.metadata!.labels).toMatchObject({ "pod-security.kubernetes.io/enforce": "restricted" });
    });

    it("is left alone by the next update, which looks what has become of it", async () =>
        expect((await stack.refresh()).changes).toEqual([]));

    it("an experiment isolates what it finds by attributes", async () => {
        expect(await isolateHotDeals()).toMatchObject({
            verdict: "FAILED",
            targets: [expect.stringMatching(/^e2e-ways\/hot-deals-[^/]+\/hot-deals$/)],
        });
        await stack.up({ "experiment.enabled": "false" });
        expect(await stack.traces()).toEqual([]);
    });

    it("no password of its Secrets is to be read in the state", async () => {
        const { data } = await stack.cluster.core.readNamespacedSecret({ name: "database-accounts", namespace });
        const kept = (await stack.state()) + stack.said;
        for (const encoded of Object.values(data!))
            expect([kept.includes(encoded), kept.includes(Buffer.from(encoded, "base64").toString())]).toEqual([
                false,
                false,
            ]);
    });
});

it("by the program again: nothing of the manifest is left, and /products is whole", async () => {
    await stack.up({ install: "program" });
    expect((await stack.products()).good).toBe(true);
    expect(objects()).toEqual(shop);
});

it("destroying the stack leaves nothing in the cluster", async () => {
    await stack.destroy();
    expect(await stack.exists()).toBe(false);
});
