import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scale } from "../../../cli/shop";
import { giveBack, sharedStack } from "./shared";
import { experimentParts, shownIn, type TestStack } from "./support";

let stack: TestStack;
/** By the last command, and by all. */
let printed = "";
let everPrinted = "";
const settings = { "ingress.hosts": "shop.example.com" };
beforeAll(async () => {
    stack = await sharedStack();
    stack.onOutput = (text) => {
        printed += text;
        everPrinted += text;
    };
});
afterAll(() => giveBack(stack));

/** What `pulumi preview --diff` shows, a line for each resource: what is done, to which, and where that changes one. */
async function preview(change: Record<string, string>): Promise<string[]> {
    printed = "";
    const changes = await stack.preview({ ...settings, ...change });
    return changes
        .map(({ op, type, name, properties }) => [op, type.split(":").at(-1), name, ...properties].join(" "))
        .sort();
}

/** Without the hash that a file's or a program's name ends with. */
const unhashed = (lines: string[]) => lines.map((line) => line.replace(/-[0-9a-f]{8}(?= |$)/, ""));

const longestLine = () => Math.max(...printed.split("\n").map((line) => line.length));

it("the next update changes nothing, and says so", async () => {
    await stack.up(settings);
    printed = "";
    expect((await stack.up()).changes).toEqual([]);
    expect(printed).toMatch(/Resources:\s+\d+ unchanged/);
});

describe("a preview shows nothing but the change of", () => {
    it("a number of replicas", async () => {
        expect(await preview({ "replicas.hot-deals": "3" })).toEqual([
            "create PodDisruptionBudget hot-deals",
            "update Deployment hot-deals spec.replicas",
        ]);
    });

    it("a host", async () => {
        stack.unset("replicas.hot-deals");
        expect(await preview({ "ingress.hosts": "www.example.com" })).toEqual([
            "update Ingress gateway spec.rules[0].host",
        ]);
    });

    it("an image", async () => {
        const programs = ["fashion-bestseller", "gateway", "hot-deals", "toys-bestseller"];
        expect(await preview({ "images.node": "docker.io/library/node:22.23.2-bookworm-slim" })).toEqual(
            programs.map((name) => `update Deployment ${name} spec.template.spec.containers[0].image`),
        );
        stack.set({ "images.node": "docker.io/library/node:22.23.3-bookworm-slim" });
    });

    it("the variant", async () => {
        expect(unhashed(await preview({ variant: "seven" }))).toEqual([
            "create ConfigMap backoffice-program",
            "create ConfigMap message-broker-configuration",
            "create Deployment inventory",
            "create Deployment message-broker",
            "create Deployment orders",
            "create MessageBroker message-broker",
            "create NetworkPolicy inventory",
            "create NetworkPolicy message-broker",
            "create NetworkPolicy orders",
            "create Orders orders",
            "create Secret message-broker-accounts",
            "create Service inventory",
            "create Service message-broker",
            "create Service orders",
            "create Workload inventory",
            "create Workload message-broker",
            "create Workload orders",
            "update NetworkPolicy gateway spec.egress[9]",
        ]);
        expect(longestLine()).toBeLessThan(500);
        stack.set({ variant: "four" });
    });

    it("the experiment, in 200 lines", async () => {
        expect(unhashed(await preview({ "experiment.enabled": "true" }))).toEqual(experimentParts);
        expect(longestLine()).toBeLessThan(500);
        expect(printed.trim().split("\n").length).toBeLessThanOrEqual(200);
        stack.set({ "experiment.enabled": "false" });
    });
});

describe("a workload that kubectl has scaled, and whose number of pods the stack does not set", () => {
    it("is left alone by the next update, shown in its outputs, and reported by a refresh", async () => {
        await scale(stack.cluster, stack.namespace, "toys-bestseller", 2);
        const { changes, outputs } = await stack.up();
        expect(changes).toEqual([]);
        expect(outputs.workloads!.value).toMatchObject({ "toys-bestseller": "2 of 2 ready", gateway: "1 of 1 ready" });
        printed = "";
        await stack.refresh();
        expect(printed).toMatch(/toys-bestseller[\s\S]*replicas\s*: 1 => 2/);
        const { spec } = await stack.cluster.apps.readNamespacedDeployment({
            name: "toys-bestseller",
            namespace: stack.namespace,
        });
        expect(spec!.replicas).toBe(2);
        await scale(stack.cluster, stack.namespace, "toys-bestseller", 1);
    });
});

it("no secret was printed", async () =>
    expect(shownIn(stack.said + everPrinted, await stack.databasePasswords())).toEqual([]));
