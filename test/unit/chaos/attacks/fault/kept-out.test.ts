import { beforeEach, describe, expect, it } from "vitest";
import { admitProxy } from "../../../../../chaos/attacks/fault/admit";
import type { FoundService } from "../../../../../chaos/attacks/fault/find";
import { whyKeptOut } from "../../../../../chaos/attacks/fault/kept-out";
import type { RunAttack } from "../../../../../chaos/attacks/kind";
import { resources } from "../../../../../chaos/cluster/resources";
import { objectApi } from "../../../../../chaos/cluster/objects";
import { noteOf } from "../../../../../chaos/policies/beside";
import { whyJobUnfit, whyRunsUnfit } from "../../../../../chaos/policies/listed";
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
        const why = `the NetworkPolicy ${name} keeps callers of Service web from the fault's`;
        expect((await seen())[0]).toMatch(why);
    });

    it("it lasts if a policy comes for other pods", async () => {
        add("web-in", into);
        await admit();
        add("toys", { ...into, podSelector: app("toys") });
        expect(await seen()).toEqual(fits);
    });

    it.each<[string, object]>([
        ["lets monitoring reach the pods, too", { ...into, ingress: [{ ports: [{ port: 9_090 }] }] }],
        ["allows everything to pods", { ...into, ingress: [{}] }],
        ["lets the same callers reach more", { ...out, egress: [{ to: [{ podSelector: app("toys") }] }] }],
        ["lets callers reach the pods by their labels, once more", out],
    ])("it lasts if a policy comes that %s, among those beside which the run has made its own", async (_, spec) => {
        add("web-in", into);
        add("front-out", out);
        await admit();
        add("more", spec);
        expect(await seen()).toEqual(fits);
    });

    it("a pod of the Service that has ended counts for no policy", async () => {
        cluster.add("Pod", "hook", {
            metadata: { labels: { app: "web", job: "migration" } },
            spec: { containers: [{ name: "hook" }] },
            status: { phase: "Succeeded" },
        });
        add("migrations", { podSelector: { matchLabels: { job: "migration" } }, policyTypes: ["Ingress"] });
        await admit();
        expect(await seen()).toEqual(fits);
    });

    it("it ends once somebody deletes a policy that the run has made", async () => {
        add("web-in", into);
        await admit();
        const api = objectApi(cluster.api);
        const met = new Set<string>();
        expect(await whyRunsUnfit(api, "demo", "slow-1234", met)).toBeUndefined();
        cluster.remove("NetworkPolicy", "slow-1234-admit-fault-0");
        cluster.remove("NetworkPolicy", "slow-1234-admit-fault-1");
        const why = "the run's own NetworkPolicy slow-1234-admit-fault-0 was deleted";
        expect(await whyRunsUnfit(api, "demo", "slow-1234", met)).toBe(why);
    });

    it("it ends once somebody deletes the one that lets the deadline Job reach the API server", async () => {
        const api = objectApi(cluster.api);
        const met = new Set<string>();
        // It is made after the Job.
        expect(await whyJobUnfit(api, "demo", "slow-1234-job", met)).toBeUndefined();
        add("slow-1234-job", { podSelector: {} });
        expect(await whyJobUnfit(api, "demo", "slow-1234-job", met)).toBeUndefined();
        cluster.remove("NetworkPolicy", "slow-1234-job");
        expect(await whyJobUnfit(api, "demo", "slow-1234-job", met)).toMatch("slow-1234-job was deleted");
    });

    it("a policy of thousands of blocks is read within a moment", async () => {
        for (let index = 0; index < 20; index++)
            cluster.add("Pod", `web-1${index}`, {
                metadata: { labels: { app: "web" } },
                spec: { containers: [{ name: "web" }] },
                status: { podIP: `10.0.0.${index}` },
            });
        await admit();
        const to = Array.from({ length: 2_000 }, (_, index) => ({
            ipBlock: { cidr: `172.16.${index % 256}.${index >> 8}/32` },
        }));
        add("ranges", { ...out, egress: [{ to, ports: [{ port: 8_080 }] }] });
        const begun = performance.now();
        expect(await seen()).toEqual(fits);
        expect(performance.now() - begun).toBeLessThan(500);
    });
});
