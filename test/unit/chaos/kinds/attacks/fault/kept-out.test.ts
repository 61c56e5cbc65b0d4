import type { V1Service } from "../../../../../../chaos/values/kubernetes-types";
import { beforeEach, describe, expect, it } from "vitest";
import { admitProxy } from "../../../../../../chaos/kinds/attacks/fault/begin";
import type { FoundService } from "../../../../../../chaos/kinds/attacks/fault/find";
import { whyKeptOut } from "../../../../../../chaos/kinds/attacks/fault/kept-out";
import type { RunAttack } from "../../../../../../chaos/kinds/attacks/attack-kind";
import { type ObjectApi, resources } from "../../../../../../chaos/cluster/resources";
import { isReadOfMany, isReadWithRules, Sieve } from "../../../../../../chaos/cluster/sieve";
import { noteOf } from "../../../../../../chaos/policies/own-policies";
import { whyPoliciesUnfit } from "../../../../../../chaos/policies/listed";
import { FakeCluster } from "../../../support/fake-cluster";

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
    ingress: [{ from: [{ podSelector: app("front") }] }],
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
    const items = await cluster.api.all(resources.networkPolicy, { namespace: "demo" });
    const policed = { policies: structuredClone(items), pass: "5f0c" };
    cluster.add("Service", proxy, { spec: { clusterIP: "None", selector: found.selector } });
    const made = await admitProxy(attack as unknown as RunAttack<unknown, FoundService>, cluster.api, policed);
    for (const [number, { spec, annotations, ...restsOn }] of made.entries())
        cluster.add("NetworkPolicy", `slow-1234-admit-fault-${number}`, {
            metadata: {
                labels: { "chaos-experiments/experiment": "slow" },
                annotations: { ...annotations, ...noteOf(restsOn) },
            },
            spec: spec,
        });
}

/** A run that begins beside these policies, of whose names each is a spec's. */
async function begin(policies: Record<string, object> = {}): Promise<void> {
    for (const [name, spec] of Object.entries(policies)) add(name, spec);
    await admit();
    expect(await seen()).toEqual(fits);
}
const bothWays = { "web-in": into, "front-out": out };

/** Has of each listed object what the Job reads of it. */
const asInJob = (api: ObjectApi): ObjectApi => ({
    ...api,
    async *list(resource, selection) {
        for await (const item of api.list(resource, selection)) {
            const sieve = new Sieve(selection.withRules ? isReadWithRules : isReadOfMany);
            sieve.push(JSON.stringify(item));
            yield JSON.parse(sieve.rest) as never;
        }
    },
});

const ofService = { selector: { "chaos-experiments/proxy": proxy }, ports: [{ port: 80, targetPort: 8080 }] };
const seen = async (spec: object = ofService) => {
    const api = asInJob(cluster.api);
    const object = { resource: resources.pod, namespace: "demo", name: proxy };
    const context = { api, namespace: "demo", run: "slow-1234", label: "slow.fault", object };
    const service = { metadata: { name: "web" }, spec } as V1Service;
    return [await whyKeptOut({ service: "web" }, service, context), await whyPoliciesUnfit(api, "demo", "slow-1234")];
};
const fits = [undefined, undefined];

describe("while a fault lasts", () => {
    it.each(["web-in", "front-out"])("it ends once somebody deletes %s, and not before", async (name) => {
        await begin(bothWays);
        cluster.remove("NetworkPolicy", name);
        expect((await seen())[1]).toMatch(`the NetworkPolicy ${name}, from which the run had made its own`);
    });

    it.each([
        ["web-in", into],
        ["front-out", out],
    ])("it ends once somebody creates %s, by which callers would not reach it", async (name, spec) => {
        await begin();
        add(name, spec);
        const why = `the NetworkPolicy ${name} keeps callers of Service web from the fault's`;
        expect((await seen())[0]).toMatch(why);
    });

    it("a block outside of the cluster in a caller's policy lets it reach no proxy", async () => {
        const outside = { ipBlock: { cidr: "203.0.113.0/24" } };
        cluster.get("Pod", "web-1").status = { podIP: "10.0.0.1" };
        await begin({ "front-out": { ...out, egress: [{ to: [{ podSelector: app("web") }, outside] }] } });
        const away = (name: string) => name.startsWith("slow-1234-admit");
        // One for the proxy, and one for the caller.
        expect(cluster.names("NetworkPolicy").filter(away)).toHaveLength(2);
        const apart = [{ to: [{ podSelector: app("web") }] }, { to: [outside] }];
        add("other-out", { podSelector: app("other"), policyTypes: ["Egress"], egress: apart });
        expect((await seen())[0]).toMatch("the NetworkPolicy other-out keeps callers of Service web from the fault's");
    });

    it("a block that has each of the Service's pods lets callers reach the proxy, too", async () => {
        cluster.get("Pod", "web-1").status = { podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] };
        await begin();
        add("front-out", { ...out, egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8" } }] }] });
        expect(await seen()).toEqual(fits);
    });

    const moved = [{ port: 80, targetPort: 9_090 }];
    it.each<[string, object, string]>([
        ["another target port", { ports: moved }, "its ports are 80 to 9090; they were 80 to 8080"],
        [
            "one more port",
            { ports: [...ofService.ports.map((one) => ({ ...one, name: "http" })), { name: "more", port: 81 }] },
            "its ports are http 80 to 8080, more 81 to 81; they were 80 to 8080",
        ],
        ["traffic within nodes", { internalTrafficPolicy: "Local" }, "it has a traffic policy Local"],
        ["affinity", { sessionAffinity: "ClientIP" }, "it has sessionAffinity ClientIP"],
        ["another protocol", { ports: [{ port: 80, targetPort: 8080, protocol: "UDP" }] }, "its port 80 is UDP"],
    ])("it ends once somebody gives the Service %s", async (_, changes, why) => {
        await begin();
        expect((await seen({ ...ofService, ...changes }))[0]).toMatch(`somebody has changed Service web: ${why}`);
    });

    it("it ends if no policy of the proxy is there, also if this Job has never seen one", async () => {
        expect((await seen())[0]).toBe("the run's own NetworkPolicy for the proxy of Service web is gone");
    });

    it("it ends if the pods' labels are more than the Job's memory can hold", async () => {
        await begin();
        const many = Object.fromEntries(
            Array.from({ length: 3_000 }, (__, index) => [`${index}`.repeat(9), "v".repeat(60)]),
        );
        for (let index = 0; index < 20; index++)
            cluster.add("Pod", `large-${index}`, { metadata: { labels: { app: "web", ...many } } });
        expect((await seen())[0]).toMatch("the pods of Service web have more labels and ports than this Job can hold");
    });

    it.each<[string, object]>([
        ["a label of experiments", {}],
        ["such a label, and an owner that is no run's", { ownerReferences: [{ kind: "Deployment", name: "shop" }] }],
    ])("a policy that denies is none of the run, or of an earlier one, because it has %s", async (_, more) => {
        await begin();
        const metadata = { uid: "copy", labels: { "chaos-experiments/experiment": "slow" }, ...more };
        cluster.add("NetworkPolicy", "copy", { metadata, spec: into });
        expect((await seen())[0]).toMatch("the NetworkPolicy copy keeps callers of Service web from the fault's proxy");
    });

    it("it lasts beside a policy of an earlier run that garbage collection has still to delete", async () => {
        await begin();
        const ownerReferences = [{ kind: "NetworkPolicy", name: "other-5678-job" }];
        const metadata = { labels: { "chaos-experiments/experiment": "other" }, ownerReferences };
        cluster.add("NetworkPolicy", "other-5678-admit-witness-1", { metadata, spec: into });
        expect(await seen()).toEqual(fits);
    });

    it.each<[string, object]>([
        ["is for other pods", { ...into, podSelector: app("toys") }],
        ["lets monitoring reach the pods, too", { ...into, ingress: [{ ports: [{ port: 9_090 }] }] }],
        ["denies the pods nothing that is not denied already", { ...into, ingress: [] }],
        ["lets the same callers reach more", { ...out, egress: [{ to: [{ podSelector: app("toys") }] }] }],
        ["lets callers reach the pods by their labels, once more", out],
    ])("it lasts if a policy comes that %s, among those beside which the run has made its own", async (_, spec) => {
        await begin(bothWays);
        add("more", spec);
        expect(await seen()).toEqual(fits);
    });

    const further = { ...into, ingress: [{ from: [{ podSelector: app("checkout") }], ports: [{ port: 8_080 }] }] };

    it.each<[string, object]>([
        ["a further caller", further],
        ["everybody", { ...into, ingress: [{}] }],
    ])("it ends once a policy comes that lets %s reach the pods: the proxy keeps these out", async (_, spec) => {
        await begin({ "web-in": into });
        add("more", spec);
        expect((await seen())[0]).toBe(
            "the NetworkPolicy more allows callers to reach the pods of Service web, and the run had made the policy " +
                "of the fault's proxy without it: the proxy may not accept these callers",
        );
    });

    it("it ends once the pods get labels by which another policy lets further callers reach them", async () => {
        await begin({ "web-in": into, more: { ...further, podSelector: { matchLabels: { tier: "canary" } } } });
        cluster.get("Pod", "web-1").metadata.labels!.tier = "canary";
        expect((await seen())[0]).toMatch("the NetworkPolicy more allows callers to reach the pods of Service web");
    });

    it("it lasts if a policy comes that lets further callers reach pods which accepted everybody before", async () => {
        await begin({ "web-in": { ...into, ingress: [{}] } });
        add("more", further);
        expect(await seen()).toEqual(fits);
    });

    it("a pod of the Service that has ended counts for no policy", async () => {
        cluster.add("Pod", "hook", {
            metadata: { labels: { app: "web", job: "migration" } },
            spec: { containers: [{ name: "hook" }] },
            status: { phase: "Succeeded" },
        });
        await begin({ migrations: { podSelector: { matchLabels: { job: "migration" } }, policyTypes: ["Ingress"] } });
    });

    it.each([
        ["deletes", () => cluster.remove("Service", proxy)],
        ["edits", () => (cluster.get("Service", proxy).spec.selector = { app: "none" })],
    ])("it ends once somebody %s the Service by which the proxy knows the pods", async (_, act) => {
        await begin();
        act();
        expect((await seen())[0]).toBe(
            `the Service ${proxy}, by which the fault's proxy knows the pods of Service web, was deleted or edited`,
        );
    });

    it("it lasts while a pod of the Service starts, which has no address yet", async () => {
        cluster.get("Pod", "web-1").status = { podIP: "10.0.0.1" };
        const anywhere = { ipBlock: { cidr: "0.0.0.0/0", except: ["169.254.169.254/32"] } };
        await begin({ "front-out": { ...out, egress: [{ to: [anywhere] }] } });
        const starting = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web" }] } };
        cluster.add("Pod", "web-2", { ...starting, status: { phase: "Pending" } });
        expect(await seen()).toEqual(fits);
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
        // Not by the clock: the machine may be busy.
        const before = process.cpuUsage();
        expect(await seen()).toEqual(fits);
        expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
    });
});
