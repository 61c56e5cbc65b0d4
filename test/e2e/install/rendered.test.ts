import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeNamespaces } from "../../../bench/on-cluster";
import { render } from "../../../cli/rendering/render";
import { renderOptions, type RenderOptions } from "../../../cli/render";
import { podsOf } from "../../../cli/shop";
import { gatewayOf } from "../../../components/shop/gateway";
import { askProducts } from "../../../experiments/products";
import { chooseRoute } from "../../../chaos/kinds/checks/route";
import { sandboxUp } from "../../../sandbox/node/up";
import { ensureParts } from "../../../toolchain/parts/ensure";
import { helm as helmPart, helmProgram } from "../../../sandbox/test/support/helm";
import { type TypedCluster as Cluster, connect, ignoreNotFound } from "../../support/typed-cluster";
import { until } from "../../support/until";

const namespaces = { kubectl: "e2e-rendered-kubectl", helm: "e2e-rendered-helm" };
const folder = mkdtempSync(join(tmpdir(), "chaos-shop-rendered-"));
const out = join(folder, "seven");
let cluster: Cluster;

beforeAll(async () => {
    const { kubeconfig, context } = await sandboxUp();
    process.env.KUBECONFIG = kubeconfig;
    cluster = connect({ context });
    await removeNamespaces(cluster, Object.values(namespaces));
    await ensureParts([helmPart]);
    const args = ["--out", out, "--variant", "seven", "--set", `namespace=${namespaces.kubectl}`];
    const { configuration } = renderOptions(args) as RenderOptions;
    await render(configuration, out);
});
afterAll(async () => {
    for (const name of Object.values(namespaces)) await ignoreNotFound(cluster.core.deleteNamespace({ name }));
    rmSync(folder, { recursive: true });
});

/** What a command prints; the words of one that fails are in its error. */
async function run(command: string, ...args: string[]): Promise<string> {
    return (await promisify(execFile)(command, args, { maxBuffer: 1 << 26 })).stdout;
}
const helm = (...args: string[]) => run(helmProgram(), ...args, "--namespace", namespaces.helm);

const isWhole = async (namespace: string) =>
    (await askProducts(cluster, await chooseRoute(cluster, gatewayOf(namespace)), 5_000)).good;
const workloads = async (namespace: string) => (await podsOf(cluster, namespace)).map(({ name }) => name).sort();

describe("rendered manifests of variant seven", () => {
    it("install the shop with `kubectl apply`", async () => {
        await run("kubectl", "apply", "--filename", join(out, "manifests"));
        await until("/products is whole", () => isWhole(namespaces.kubectl), { timeoutMs: 120_000 });
        await until(
            "orders, inventory and message-broker are there",
            async () => (await podsOf(cluster, namespaces.kubectl)).filter(({ ready }) => ready).length === 8,
            { timeoutMs: 120_000 },
        );
    });

    it("change nothing when they are applied again", async () => {
        const said = await run("kubectl", "apply", "--filename", join(out, "manifests"));
        const changed = said.split("\n").filter((line) => line !== "" && !line.endsWith(" unchanged"));
        expect(changed).toEqual([]);
    });

    it("remove the whole shop with `kubectl delete`", async () => {
        await run("kubectl", "delete", "--filename", join(out, "manifests"));
        expect(await ignoreNotFound(cluster.core.readNamespace({ name: namespaces.kubectl }))).toBeUndefined();
    });
});

describe("the rendered chart of variant seven", () => {
    const values = join(folder, "values.yaml");
    const how = ["--install", "--wait", "--timeout", "5m0s", "--create-namespace", "--values", values];
    const install = () => helm("upgrade", ...how, "shop", join(out, "chart"));

    it("passes `helm lint --strict`", async () => {
        expect(await run(helmProgram(), "lint", "--strict", join(out, "chart"))).toContain("0 chart(s) failed");
    });

    it("rejects invalid values before it creates anything", async () => {
        writeFileSync(values, 'ingress: { hosts: ["not a host"] }\n');
        await expect(install()).rejects.toThrow(/hosts/);
        expect(await ignoreNotFound(cluster.core.readNamespace({ name: namespaces.helm }))).toBeUndefined();
    });

    it("installs the shop, with the hosts from its values", async () => {
        writeFileSync(values, "ingress: { hosts: [shop.example.com], class: nginx, tlsSecret: shop-tls }\n");
        await install();
        await until("/products is whole", () => isWhole(namespaces.helm), { timeoutMs: 10_000 });
        expect(await workloads(namespaces.helm)).toHaveLength(8);
        const { spec } = await cluster.networking.readNamespacedIngress({
            name: "gateway",
            namespace: namespaces.helm,
        });
        expect(spec).toMatchObject({
            ingressClassName: "nginx",
            tls: [{ hosts: ["shop.example.com"], secretName: "shop-tls" }],
            rules: [{ host: "shop.example.com" }],
        });
    });

    it("keeps its passwords and restarts no pod when it is upgraded", async () => {
        const namespace = namespaces.helm;
        const passwords = async () =>
            (await cluster.core.readNamespacedSecret({ name: "database-accounts", namespace })).data;
        const before = [await passwords(), await workloads(namespace)];
        writeFileSync(values, "ingress: { hosts: [] }\n");
        await install();
        expect([await passwords(), await workloads(namespace)]).toEqual(before);
        const ingress = cluster.networking.readNamespacedIngress({ name: "gateway", namespace });
        expect(await ignoreNotFound(ingress)).toBeUndefined();
    });

    it("leaves nothing when it is uninstalled", async () => {
        await helm("uninstall", "--wait", "shop");
        const kinds = "deployment,service,secret,role,rolebinding,networkpolicy,ingress";
        expect(await run("kubectl", "get", kinds, "--namespace", namespaces.helm, "--output", "name")).toBe("");
    });
});
