import type { OutputMap } from "@pulumi/pulumi/automation";
import { stripVTControlCharacters } from "node:util";
import { beforeEach, describe, expect, it } from "vitest";
import { leaseName } from "../../../chaos/lease/lease-record";
import { reportShop } from "../../../cli/shop-report";
import { serving } from "../../support/serving";
import { FakeCluster } from "../chaos/support/fake-cluster";

const list = { products: [{ id: "1" }] };
const whole = { status: 200, body: { fashionResponse: list, toysResponse: list, hotDealsResponse: list } };
const broken = { status: 502, body: { detail: "hot-deals does not answer" } };

let cluster: FakeCluster;
let url: string;
/** The answers of `/products`, in order. The last one is repeated. */
let answers: { status: number; body: object }[];
let said: string[];
const gateway = serving(({ url: path }, response) => {
    if (path !== "/products") return response.end();
    const { status, body } = answers.length > 1 ? answers.shift()! : answers[0]!;
    return response.writeHead(status).end(JSON.stringify(body));
});

beforeEach(() => {
    answers = [whole];
    said = [];
    url = `${gateway.url}/products`;
    cluster = new FakeCluster();
    cluster.api.kubeconfig.setCurrentContext("kind-kind");
    cluster.add("Service", "gateway", {
        spec: { ports: [{ port: Number(new URL(url).port) }] },
        status: { loadBalancer: { ingress: [{ ip: "127.0.0.1" }] } },
    });
});

const report = (
    workloads: Record<string, string> = {},
    { ownExperiment = false, keyIsSet = true, stack = "local" } = {},
) => {
    const outputs: OutputMap = Object.fromEntries(
        Object.entries({ namespace: "demo", productsUrl: url, gateway: "", workloads }).map(([name, value]) => [
            name,
            { value, secret: false },
        ]),
    );
    return reportShop({
        cluster: cluster.api,
        outputs,
        stack,
        ownExperiment,
        keyIsSet,
        patienceMs: 500,
        say: (line = "") => said.push(stripVTControlCharacters(line)),
    });
};

describe("`npm start`", () => {
    it("says that the shop is up if /products lists everything", async () => {
        expect(await report()).toBe(true);
        expect(said).toEqual([`The shop is up: ${url}`]);
    });

    it("waits a moment for /products, and says what it waits for", async () => {
        answers = [broken, broken, whole];
        expect(await report()).toBe(true);
        expect(said).toEqual([
            "  … waiting for /products: status 502: “hot-deals does not answer”",
            `The shop is up: ${url}`,
        ]);
    });

    it("does not say so over a 502: it says what it saw, what shows why, and what repairs drift", async () => {
        answers = [broken];
        expect(await report({ gateway: "1 of 1 ready", "hot-deals": "0 of 1 ready: its readiness probe fails" })).toBe(
            false,
        );
        expect(said.join("\n")).not.toContain("is up");
        expect(said.slice(1)).toEqual([
            "The shop is installed, but /products fails: status 502: “hot-deals does not answer”",
            "  hot-deals: 0 of 1 ready: its readiness probe fails",
            "See why: $ kubectl --context kind-kind --namespace demo get deployments,pods,services,networkpolicies",
            "An update does not see what was changed or deleted without Pulumi. If that may be the cause:",
            "$ npx pulumi up --refresh --stack local",
        ]);
    });

    it("says how to set the agent's key, which plain Pulumi needs, if only the cluster has it", async () => {
        answers = [broken];
        await report({}, { keyIsSet: false });
        expect(said.slice(-2)).toEqual([
            "$ openssl rand -hex 32 | npx pulumi config set --secret agent.key --stack local",
            "$ npx pulumi up --refresh --stack local",
        ]);
    });

    it("says how to scale up what is scaled to 0, which Pulumi leaves alone", async () => {
        answers = [broken];
        await report({ "hot-deals": "0 of 0 ready" });
        expect(said).toContain(
            "  hot-deals: 0 of 0 ready; run: kubectl --context kind-kind --namespace demo scale deployment hot-deals " +
                "--replicas 1",
        );
    });
});

describe("`npm start` during an experiment that breaks /products", () => {
    beforeEach(() => {
        answers = [broken];
        cluster.add("Pod", "hot-deals-1", {
            metadata: { labels: { "chaos-experiments/target": "hot-deals-blackhole.blackhole" } },
        });
        cluster.add("Lease", leaseName, {
            metadata: { annotations: { "chaos-experiments/experiment": "hot-deals-blackhole" } },
            spec: {
                holderIdentity: "stack theirs/0a1b (its application is in demo)",
                renewTime: new Date(),
                leaseDurationSeconds: 600,
            },
        });
    });

    it("names it, and the command that ends it", async () => {
        expect(await report()).toBe(false);
        expect(said).toEqual([
            "The shop is installed, but /products fails: status 502: “hot-deals does not answer”",
            "The experiment hot-deals-blackhole of stack theirs/0a1b (its application is in demo) runs in namespace " +
                "demo: hot-deals-1 (blackhole)",
            "End it: $ kubectl --context kind-kind --namespace demo delete lease chaos-experiment",
        ]);
    });

    it("gives the commands that end what is left of a run without a lease", async () => {
        cluster.remove("Lease", leaseName);
        await report();
        expect(said.slice(-4)).toEqual([
            expect.stringMatching(/^End it: \$ kubectl --context kind-kind --namespace demo label pods --all /),
            expect.stringMatching(/^\$ .* annotate pods --all /),
            expect.stringMatching(/^\$ .* delete networkpolicies --selector /),
            "The next update of its stack removes the rest",
        ]);
    });

    it("ends it by the setting if the stack's own settings enable it", async () => {
        await report({}, { ownExperiment: true });
        expect(said.at(-1)).toBe("End it: $ npx pulumi config set experiment.enabled false --stack local && npm start");
        await report({}, { ownExperiment: true, stack: "cloud" });
        expect(said.at(-1)).toMatch(/enabled false --stack cloud && npx pulumi up --stack cloud$/);
    });

    it("says that the shop is up if it withstands it", async () => {
        answers = [whole];
        expect(await report()).toBe(true);
    });

    it("has nothing to do with one in another namespace", async () => {
        cluster.remove("Pod", "hot-deals-1");
        cluster.remove("Lease", leaseName);
        cluster.add("Pod", "a", { metadata: { labels: { "chaos-experiments/target": "x.dns" } } }, "other");
        await report();
        expect(said).toContain("$ npx pulumi up --refresh --stack local");
    });
});
