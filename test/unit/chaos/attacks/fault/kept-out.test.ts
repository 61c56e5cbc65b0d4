import { beforeEach, describe, expect, it } from "vitest";
import { admitProxy } from "../../../../../chaos/attacks/fault/admit";
import type { FoundService } from "../../../../../chaos/attacks/fault/find";
import { whyKeptOut } from "../../../../../chaos/attacks/fault/kept-out";
import type { RunAttack } from "../../../../../chaos/attacks/kind";
import { resources } from "../../../../../chaos/cluster/resources";
import { objectApi } from "../../../../../chaos/cluster/objects";
import { noteOf } from "../../../../../chaos/policies/beside";
import { whyRunsUnfit } from "../../../../../chaos/policies/listed";
import { forClient } from "../../../../../chaos/policies/rules";
import { FakeCluster } from "../../support/fake-cluster";

const proxy = "slow-1234-fault";
const found: FoundService = {
    service: "web",
    selector: { app: "web" },
    ports: [{ name: "", port: 80, target: 8080, listen: 8080 }],
    pods: ["web-1"],
};
const app = (name: string) => ({ matchLabels: { app: name } });
const into = {
    podSelector: app("web"),
    policyTypes: ["Ingress"],
    ingress: [{ _from: [{ podSelector: app("front") }] }],
};
const out = { podSelector: app("front"), policyTypes: ["Egress"], egress: [{ to: [{ podSelector: app("web") }] }] };

let cluster: FakeCluster;
beforeEach(() => {
    cluster = new FakeCluster();
    cluster.add("Namespace", "demo");
    cluster.add("Pod", "web-1", { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web" }] } });
});

const add = (name: string, spec: object) => cluster.add("NetworkPolicy", name, { metadata: { uid: name }, spec });

/** Makes what a run makes for the proxy, beside the policies that are there. */
async function admit(): Promise<void> {
    const attack = { experiment: "slow", namespace: "demo", object: proxy, chosen: { found, chosenBy: "7b1e" } };
    const { items } = await cluster.api.networking.listNamespacedNetworkPolicy({ namespace: "demo" });
    const policed = { policies: structuredClone(items), pass: "5f0c" };
    const made = await admitProxy(attack as unknown as RunAttack<unknown, FoundService>, cluster.api, policed);
    for (const [number, { spec, annotations, ...restsOn }] of made.entries())
        cluster.add("NetworkPolicy", `slow-1234-admit-fault-${number}`, {
            metadata: {
                labels: { "chaos-experiments/experiment": "slow" },
                annotations: { ...annotations, ...noteOf(restsOn) },
            },
            spec: forClient(spec),
        });
}

const seen = async () => {
    const api = objectApi(cluster.api);
    const object = { resource: resources.pod, namespace: "demo", name: proxy };
    const context = { api, namespace: "demo", run: "slow-1234", label: "slow.fault", object };
    return [await whyKeptOut(context), await whyRunsUnfit(api, "demo", "slow-1234")];
};
const fits = [undefined, undefined];

describe("while a fault lasts", () => {
    it("the policies beside which it began are no reason to end it", async () => {
        add("web-in", into);
        add("front-out", out);
        await admit();
        expect(await seen()).toEqual(fits);
    });

    it.each(["web-in", "front-out"])("it ends once somebody deletes %s", async (name) => {
        add("web-in", into);
        add("front-out", out);
        await admit();
        cluster.remove("NetworkPolicy", name);
        expect((await seen())[1]).toMatch(`the NetworkPolicy ${name}, from which the run had made its own`);
    });

    it.each([
        ["web-in", into],
        ["front-out", out],
    ])("it ends once somebody creates %s, by which callers would not reach it", async (name, spec) => {
        await admit();
        expect(await seen()).toEqual(fits);
        add(name, spec);
        const why = `the NetworkPolicy ${name} came during the run, and keeps callers of Service web from the fault's`;
        expect((await seen())[0]).toMatch(why);
    });

    it("it lasts if a policy comes for other pods", async () => {
        add("web-in", into);
        await admit();
        add("toys", { ...into, podSelector: app("toys") });
        expect(await seen()).toEqual(fits);
    });
});
