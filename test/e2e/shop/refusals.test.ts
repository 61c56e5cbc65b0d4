import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mergePatch } from "../../support/typed-cluster";
import { TestStack } from "./support";
import { inOrder } from "../../support/in-order";

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
    const folder = mkdtempSync(join(tmpdir(), "chaos-shop-kubeconfig-"));
    let usual: string | undefined;
    beforeAll(() => void (usual = process.env.KUBECONFIG));
    afterAll(() => {
        process.env.KUBECONFIG = usual;
        rmSync(folder, { recursive: true, force: true });
    });

    /** Makes a kubeconfig with one context the current one. */
    function pointTo(context: string, server: string): void {
        process.env.KUBECONFIG = join(folder, "config");
        const config = {
            apiVersion: "v1",
            kind: "Config",
            clusters: [{ name: "c", cluster: { server, "insecure-skip-tls-verify": true } }],
            users: [{ name: "u", user: {} }],
            contexts: [{ name: context, context: { cluster: "c", user: "u" } }],
            "current-context": context,
        };
        writeFileSync(process.env.KUBECONFIG, JSON.stringify(config));
    }

    /** Another cluster, which has nothing but its kube-system. */
    async function emptyCluster(): Promise<{ server: string; close: () => void }> {
        const api = createServer(({ url }, response) => {
            const isSystem = url!.startsWith("/api/v1/namespaces/kube-system");
            response.writeHead(isSystem ? 200 : 404, { "content-type": "application/json" });
            response.end(JSON.stringify(isSystem ? { metadata: { name: "kube-system", uid: "another" } } : {}));
        });
        await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
        return { server: `http://127.0.0.1:${(api.address() as AddressInfo).port}`, close: () => api.close() };
    }

    it("if the context is neither plainly local nor named", async () => {
        pointTo("arn:aws:eks:eu-central-1:123456789012:cluster/production", "https://127.0.0.1:1");
        const error = await stack.failingUp();
        expect(error).toMatch(
            inOrder(
                /current context "arn:aws:eks[^"]+"/,
                "not plainly a local cluster",
                "Nothing was touched",
                "pulumi config set kube.context",
            ),
        );
    });

    it("if the cluster does not answer", async () => {
        pointTo("kind-asleep", "https://127.0.0.1:1");
        expect(await stack.failingUp()).toMatch(
            inOrder(
                'the cluster of context "kind-asleep" at https://127.0.0.1:1 cannot be used: ',
                "ECONNREFUSED",
                "start kind",
            ),
        );
    });

    it("if the named context does not exist", async () => {
        pointTo("kind-asleep", "https://127.0.0.1:1");
        expect(await stack.failingUp({ "kube.context": "elsewhere" })).toMatch(
            /kube\.context is "elsewhere".*allowed: kind-asleep/s,
        );
        process.env.KUBECONFIG = usual;
        await stack.up({ "kube.context": "chaos-shop-sandbox" });
    });

    it("if the stack was made in another cluster", async () => {
        const other = await emptyCluster();
        pointTo("kind-other", other.server);
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
            other.close();
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
        const other = await emptyCluster();
        pointTo("chaos-shop-sandbox", other.server);
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
            other.close();
        }
        expect((await stack.refresh()).changes).toEqual([]);
    });

    it("and if the namespace is another stack's by now", async () => {
        const { annotations } = (await stack.cluster.core.readNamespace({ name: stack.namespace })).metadata!;
        const annotate = (marks: object) =>
            stack.cluster.core.patchNamespace(
                { name: stack.namespace, body: { metadata: { annotations: marks } } },
                mergePatch(),
            );
        await annotate({ "chaos-shop/stack": "cloud", "chaos-shop/identity": "theirs" });
        try {
            expect(await stack.failingDestroy()).toMatch(
                inOrder(
                    'Stopped before anything was deleted: namespace e2e-refusals belongs to stack "cloud" by now',
                    "annotate --overwrite namespace e2e-refusals chaos-shop/stack=e2e-refusals chaos-shop/identity-",
                ),
            );
        } finally {
            await annotate({
                "chaos-shop/stack": annotations!["chaos-shop/stack"],
                "chaos-shop/identity": annotations!["chaos-shop/identity"],
            });
        }
        expect((await stack.up()).changes).toEqual([]);
    });
});

describe("an update fails before it touches anything", () => {
    beforeAll(() => stack.up());

    /** The error of another stack's update, and that it made nothing. */
    async function refused(settings: Record<string, string>): Promise<string> {
        const other = await stack.beside("e2e-refusals-other");
        try {
            const error = await other.failingUp(settings);
            const { resources = [] } = JSON.parse(await other.state()).deployment as { resources?: { type: string }[] };
            expect(resources.filter(({ type }) => type.startsWith("kubernetes:"))).toEqual([]);
            expect(await other.exists()).toBe(false);
            return error;
        } finally {
            await other.close();
        }
    }

    it("if the namespace belongs to another stack", async () => {
        const before = await stack.cluster.core.readNamespace({ name: stack.namespace });
        expect(await refused({ namespace: stack.namespace })).toMatch(
            inOrder(
                'namespace is "e2e-refusals", which belongs to stack "e2e-refusals"',
                "Nothing was touched",
                "pulumi config set namespace e2e-refusals-e2e-refusals-other",
                "If that stack no longer exists: kubectl",
            ),
        );
        expect((await stack.cluster.core.readNamespace({ name: stack.namespace })).metadata!.resourceVersion).toBe(
            before.metadata!.resourceVersion,
        );
    });

    it("if the namespace belongs to a stack of the same name in another backend", async () => {
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

    it("if the agent's namespace belongs to another stack", async () => {
        await stack.cluster.core.createNamespace({
            body: { metadata: { name: "e2e-refusals-agent", annotations: { "chaos-shop/stack": "e2e-refusals" } } },
        });
        try {
            const other = await stack.beside("e2e-refusals-other");
            await other.setSecret("agent.key", randomBytes(24).toString("hex"));
            expect(await other.failingUp({ "agent.enabled": "true", "agent.namespace": "e2e-refusals-agent" })).toMatch(
                /agent\.namespace is "e2e-refusals-agent", which belongs to stack "e2e-refusals"/,
            );
            await other.close();
        } finally {
            await stack.cluster.core.deleteNamespace({ name: "e2e-refusals-agent" });
        }
    });

    it("if the namespace exists and belongs to no stack", async () => {
        expect(await refused({ namespace: "default" })).toMatch(
            inOrder(
                'namespace is "default", which exists and belongs to no stack',
                "pulumi config set namespace default-e2e-refusals-other",
            ),
        );
    });

    it("if the storage class does not exist", async () => {
        expect(await refused({ "database.storage": "1Gi", "storage.class": "fast" })).toMatch(
            inOrder(
                'storage.class is "fast", which the cluster does not have; allowed: sandbox-local',
                "pulumi config set storage.class sandbox-local",
            ),
        );
    });
});

it("all mistakes in the configuration are reported at once, and nothing is touched", async () => {
    const before = await stack.state();
    const error = await stack.failingUp({ "replicas.hot-deals": "many", "experiment.radius": "0" });
    expect(error).toMatch(
        inOrder(
            "has 2 mistakes",
            'replicas.hot-deals is "many"',
            'experiment.radius is "0"',
            "pulumi config set experiment.radius 1",
        ),
    );
    expect(JSON.parse(await stack.state()).deployment.resources.length).toBe(
        JSON.parse(before).deployment.resources.length,
    );
    stack.unset("experiment.radius");
    expect((await stack.up(withoutPods)).changes).toEqual([]);
});
