import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestStack } from "./support";
import { inOrder } from "../../support/in-order";
import { kubeconfigOf } from "../../support/kubeconfig";
import { scratchFolder } from "../../support/scratch";
import { servingObjects } from "../../support/serving";

const programs = ["gateway", "fashion-bestseller", "toys-bestseller", "hot-deals"];
const withoutPods = Object.fromEntries(programs.map((program) => [`replicas.${program}`, "0"]));

let stack: TestStack;
beforeAll(async () => {
    stack = await TestStack.open("e2e-refusals");
    // What is tested is what is refused: without pods the shop is quick.
    stack.set(withoutPods);
});
afterAll(() => stack.close());

describe("an update fails with a sentence that says why, before it creates anything,", () => {
    const folder = scratchFolder();
    // Has nothing but its kube-system.
    const other = servingObjects({
        "/api/v1/namespaces/kube-system": { metadata: { name: "kube-system", uid: "another" } },
    });
    let usual: string | undefined;
    beforeAll(async () => {
        usual = process.env.KUBECONFIG;
        await stack.up({ "kube.context": "chaos-shop-sandbox" });
    });
    afterAll(() => void (process.env.KUBECONFIG = usual));

    /** Makes a kubeconfig with one context the current one. */
    function pointTo(context: string, server: string): void {
        const config = { apiVersion: "v1", kind: "Config", ...JSON.parse(kubeconfigOf(context, server)) };
        process.env.KUBECONFIG = join(folder, "config");
        writeFileSync(process.env.KUBECONFIG, JSON.stringify(config));
    }

    it("if the stack was made in another cluster", async () => {
        pointTo("kind-other", other.url);
        try {
            expect(await stack.failingUp({ "kube.context": "kind-other" })).toMatch(
                inOrder(
                    'made in the cluster of context "chaos-shop-sandbox", and that of context "kind-other" is another',
                    "Nothing was touched",
                    "pulumi config set kube.context chaos-shop-sandbox",
                    "npx pulumi up --replace urn:pulumi:e2e-refusals::chaos-shop::pulumi:index:Stash::cluster",
                ),
            );
        } finally {
            process.env.KUBECONFIG = usual;
        }
        expect((await stack.refresh({ "kube.context": "chaos-shop-sandbox" })).changes.map(({ type }) => type)).toEqual(
            ["pulumi:index:Stash"],
        );
    });

    it("but not if KUBECONFIG names several files, which the provider reads without leaving a copy", async () => {
        const { TMPDIR } = process.env;
        const temporary = join(folder, "temporary");
        mkdirSync(temporary);
        process.env.TMPDIR = temporary;
        pointTo("kind-asleep", "https://127.0.0.1:1");
        process.env.KUBECONFIG = [process.env.KUBECONFIG, usual].join(delimiter);
        try {
            expect((await stack.up({ "gateway.serviceType": "ClusterIP" })).changes.map(({ name }) => name)).toEqual([
                "gateway",
            ]);
        } finally {
            process.env.KUBECONFIG = usual;
            if (TMPDIR === undefined) delete process.env.TMPDIR;
            else process.env.TMPDIR = TMPDIR;
        }
        expect(readdirSync(temporary).filter((file) => /^kubeconfig\d+$/.test(file))).toEqual([]);
        await stack.up({ "gateway.serviceType": "LoadBalancer" });
    });

    it("as does destroying the stack, if the context leads to another cluster by now, or to none", async () => {
        const forget = `npx pulumi stack rm ${stack.namespace} --force --preserve-config`;
        pointTo("chaos-shop-sandbox", other.url);
        try {
            expect(await stack.failingDestroy()).toMatch(
                inOrder(
                    'Stopped before anything was deleted: context "chaos-shop-sandbox" leads to another cluster',
                    "repeat this with the KUBECONFIG of the last update",
                    forget,
                ),
            );
            pointTo("chaos-shop-sandbox", "https://127.0.0.1:1");
            expect(await stack.failingDestroy()).toMatch(inOrder("cannot be asked", "ECONNREFUSED", forget));
        } finally {
            process.env.KUBECONFIG = usual;
        }
        expect((await stack.refresh()).changes).toEqual([]);
    });
});

it("an update of a stack of the same name in another backend touches nothing of the namespace", async () => {
    const { PULUMI_BACKEND_URL } = process.env;
    const uid = async () => (await stack.cluster.core.readNamespace({ name: stack.namespace })).metadata!.uid;
    const before = await uid();
    const other = await TestStack.openAnother(stack.namespace);
    try {
        expect(await other.failingUp()).toMatch(
            inOrder(
                'namespace is "e2e-refusals", which belongs to another stack named "e2e-refusals"',
                "Nothing was touched",
                "annotate --overwrite namespace e2e-refusals chaos-shop/stack=e2e-refusals chaos-shop/identity-",
            ),
        );
        // It would have removed the shop.
        await other.destroy();
    } finally {
        await other.close();
        process.env.PULUMI_BACKEND_URL = PULUMI_BACKEND_URL;
    }
    expect(await uid()).toBe(before);
    expect((await stack.up()).changes).toEqual([]);
});
