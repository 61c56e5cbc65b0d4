import { PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import type { V1Service } from "../../../chaos/values/kubernetes-types";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { restore } from "../../../chaos/cluster/lend";
import { labels } from "../../../chaos/cluster/labels";
import { resources } from "../../../chaos/cluster/resources";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { isPointing, pointedService } from "../../../chaos/kinds/attacks/fault/pointing";
import type { FoundService } from "../../../chaos/kinds/attacks/fault/find";
import type { RunAttack } from "../../../chaos/kinds/attacks/attack-kind";
import { leaseName } from "../../../chaos/lease/lease-record";
import { pointToProxy } from "../../../chaos/kinds/attacks/fault/begin";
import { choices } from "../../../sandbox/node/choices";
import { kubectl } from "../../../sandbox/test/e2e/support";
import { describeInAll, describeOnce, itInAll, itOnce } from "../which-tests";
import { TestStack } from "../shop/support";
import { until } from "../../support/until";

/**
 * Not the shared shop: the Service will have other owners. It has default-deny policies: the proxy works among these.
 */
const namespace = "e2e-fault";
const service = "hot-deals";

let stack: TestStack;
let before: V1Service;
beforeAll(async () => {
    stack = await TestStack.open(namespace);
    await stack.up();
    before = await current();
});
afterAll(() => stack.close());

const current = () => stack.cluster.core.readNamespacedService({ name: service, namespace });

const short = {
    "experiment.enabled": "true",
    "experiment.duration": "3s",
    "experiment.grace": "1s",
    "experiment.interval": "250ms",
};

async function conclusionOf(settings: Record<string, string>): Promise<Conclusion> {
    return (await stack.up({ ...short, ...settings })).outputs.experiment!.value as Conclusion;
}

const attackedPods = async () =>
    (await stack.cluster.core.listNamespacedPod({ namespace, labelSelector: labels.target })).items;

const isRestored = async () => {
    const { spec, metadata } = await current();
    expect(spec!.selector).toEqual(before.spec!.selector);
    expect(metadata!.annotations).toEqual(before.metadata!.annotations);
    expect(metadata!.managedFields).toEqual(before.metadata!.managedFields);
};

describe("a slow hot-deals", () => {
    it("is proven by the witness and by the answers of the shop", async () => {
        const conclusion = await conclusionOf({ "experiment.name": "hot-deals-slow" });
        expect(stack.said).toMatch(/Proven: hot-deals-\S+ is delayed by 3 s through Service hot-deals/);
        expect(stack.said).toMatch(/Service hot-deals: (\d+) of \1 requests hit/);
        expect(conclusion).toMatchObject({ attack: "fault", targets: [expect.stringContaining("hot-deals-")] });
        expect(conclusion.verdict).not.toBe("INCONCLUSIVE");
    });

    itOnce("has a proxy that can be made again, should an update be killed before it noted it", async () =>
        expect(await stack.conflictsIfRepeated()).toEqual([]),
    );

    it("is told by the shop while it lasts, and after the next update the Service is as before", async () => {
        const [pod] = await attackedPods();
        expect(await stack.attacksOnPage()).toEqual([
            { workload: service, effect: "slow by 3 s", pods: [pod!.metadata!.name] },
        ]);
        await stack.up({ "experiment.enabled": "false" });
        expect(await stack.attacksOnPage()).toEqual([]);
        expect(await stack.traces()).toEqual([]);
        await isRestored();
    });
});

describe("a hot-deals that is slow in one session", () => {
    it("is proven with a request of each sort, and leaves everybody else alone", async () => {
        const conclusion = await conclusionOf({ "experiment.name": "my-session-slow" });
        expect(stack.said).toMatch(
            /Proven: hot-deals-\S+ is delayed by 3 s in the requests with X-Request-Id: my-session through Service/,
        );
        expect(stack.said).toMatch(/Service hot-deals: ([1-9]\d*) of \1 requests hit; [1-9]\d* others did not match/);
        expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
        await stack.up({ "experiment.enabled": "false" });
        expect(await stack.traces()).toEqual([]);
        await isRestored();
    });
});

/** Begins an update that slows hot-deals down, and waits until its Service points to the proxy. */
async function begun(settings: Record<string, string> = {}) {
    stack.set({ ...short, "experiment.name": "hot-deals-slow", "experiment.duration": "8s", ...settings });
    const update = stack.begin();
    let exitCode: number | null | undefined;
    void update.ended.then((code) => (exitCode = code));
    const isBegun = async () => exitCode !== undefined || isPointing(await current());
    const problem = await until("the Service points to the proxy", isBegun, { timeoutMs: 120_000, pauseMs: 20 }).then(
        () => exitCode !== undefined && `the update ended before, with ${exitCode}`,
        String,
    );
    if (problem) throw new Error(`${problem}. It printed:\n${update.printed()}`);
    return update;
}

const isRestoredWithin = (timeoutMs: number) =>
    until("the Service is restored", async () => !isPointing(await current()), { timeoutMs, pauseMs: 50 });

const proxies = async () =>
    (await stack.cluster.core.listNamespacedPod({ namespace, labelSelector: "chaos-experiments/proxy" })).items;

describeOnce("a fault ends", () => {
    afterEach(async () => {
        await stack.cancel();
        await stack.up({ "experiment.enabled": "false", "experiment.deadline": "10m" });
        expect(await stack.traces()).toEqual([]);
        await isRestored();
    });

    it("within 5 s when its proxy dies, and the verdict is INCONCLUSIVE", async () => {
        const update = await begun({ "experiment.run": "dies" });
        await until("the fault is proven", async () => (await stack.products()).latencyMs > 1_500);
        const [proxy] = await proxies();
        await stack.cluster.core.deleteNamespacedPod({
            name: proxy!.metadata!.name!,
            namespace,
            gracePeriodSeconds: 0,
        });
        await isRestoredWithin(5_000);
        expect(await update.ended).toBe(0);
        expect((await stack.outputs()).experiment!.value).toMatchObject({
            verdict: "INCONCLUSIVE",
            reason: expect.stringMatching(/proxy|run dies has already ended/),
        });
    });

    itInAll("when its proxy and the deadline Job's pod die together, as with their node", async () => {
        await conclusionOf({ "experiment.name": "hot-deals-slow", "experiment.run": "drained" });
        const labelSelector = "batch.kubernetes.io/job-name";
        const jobs = (await stack.cluster.core.listNamespacedPod({ namespace, labelSelector })).items;
        expect(jobs).toHaveLength(1);
        for (const { metadata } of [...jobs, ...(await proxies())]) {
            const pod = { name: metadata!.name!, namespace, gracePeriodSeconds: 0 };
            await stack.cluster.core.deleteNamespacedPod(pod);
        }
        // The Job starts another pod first.
        await isRestoredWithin(60_000);
    });

    itInAll("when the lease is deleted", async () => {
        const update = await begun({ "experiment.run": "stopped" });
        await stack.cluster.coordination.deleteNamespacedLease({ name: leaseName, namespace });
        await isRestoredWithin(5_000);
        await update.kill();
    });

    itInAll("at its deadline, if the update was killed", async () => {
        const update = await begun({
            "experiment.run": "killed",
            "experiment.duration": "3s",
            "experiment.deadline": "20s",
        });
        await update.kill();
        await isRestoredWithin(30_000);
    });
});

/**
 * Asks hot-deals from the gateway's pod, over new connections and over one that is kept, and prints what went wrong.
 */
const load = (requests: number) => `
    const { request, Agent } = require("node:http");
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    const problems = [];
    const ask = (agent) => new Promise((resolve) => {
        const asked = request({ host: "hot-deals", path: "/products", agent, timeout: 10_000 }, (response) => {
            response.resume().on("end", resolve).on("error", failed);
            if (response.statusCode !== 200) failed(new Error("status " + response.statusCode));
        });
        const failed = (error) => { problems.push(error.code + " " + error.message); resolve(); };
        asked.on("error", failed).on("timeout", () => asked.destroy(new Error("no answer"))).end();
    });
    (async () => {
        for (let asked = 0; asked < ${requests}; asked += 4)
            await Promise.all([ask(false), ask(false), ask(kept), ask(kept), new Promise((go) => setTimeout(go, 12))]);
        console.log(JSON.stringify(problems));
    })();`;

describe("a fault that changes nothing", () => {
    beforeAll(async () => {
        await stack.up({ ...short, "experiment.name": "hot-deals-proxied", "experiment.duration": "1s" });
        expect(isPointing(await current())).toBe(true);
    });
    afterAll(async () => {
        await stack.up({ "experiment.enabled": "false" });
        expect(await stack.traces()).toEqual([]);
    });

    // Cilium sends the packets of a request that is under way to a pod of the Service as it is now, which resets it.
    const [loses, mayFail] =
        choices().network === "cilium" ? ["only resets some", /^ECONNRESET/] : ["loses none", undefined];
    it(`taking a Service's place, and giving it back, ten times ${loses} of 5,000 requests`, async () => {
        const [proxy] = await proxies();
        const attack = {
            namespace,
            object: proxy!.metadata!.name!,
            run: "switched-by-this-test",
            chosen: { found: { service, selector: before.spec!.selector! } },
        } as RunAttack<unknown, FoundService>;
        const command = ["exec", "--namespace", namespace, "deployment/gateway", "--", "node", "-e", load(5_000)];
        let problems: string | undefined;
        const asking = kubectl(command).then((printed) => (problems = printed));
        let switches = 0;
        // On a busy machine the requests take longer: more switches would reset more of them.
        for (; problems === undefined && switches < 10; switches++) {
            await restore(stack.cluster, { resource: resources.service, namespace, name: service }, pointedService);
            await sleep(600);
            await pointToProxy(attack, stack.cluster);
            await sleep(600);
        }
        const failed = JSON.parse(await asking) as string[];
        expect(failed.filter((problem) => !mayFail?.test(problem))).toEqual([]);
        expect(failed.length).toBeLessThan(50);
        expect(switches * 2).toBeGreaterThanOrEqual(10);
    });

    itOnce("is ended by an update with --refresh, which has no conflict", async () => {
        expect(isPointing(await current())).toBe(true);
        await stack.up({}, true);
        expect((await current()).spec!.selector).toEqual(before.spec!.selector);
    });
});

/** Whose the selector is afterwards; those whose it was before, if the change leaves it what they had set. */
type Change = [how: string, change: () => Promise<unknown>, owners?: string[]];

const ownersOfSelector = ({ metadata }: V1Service) =>
    metadata!
        .managedFields!.filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes("f:selector"))
        .map(({ manager }) => manager);

describeInAll("a selector that somebody changes meanwhile makes it INCONCLUSIVE, and stays theirs:", () => {
    const isSet: Change = [
        "set",
        () =>
            stack.cluster.core.patchNamespacedService(
                {
                    name: service,
                    namespace,
                    body: { spec: { selector: { ...before.spec!.selector, "chaos-experiments/proxy": null } } },
                    fieldManager: "their-tool",
                },
                setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
            ),
        ["their-tool"],
    ];
    // Merged into the proxy's label, it selects nobody.
    const isApplied: Change = [
        "applied by kubectl",
        () => {
            const { selector, ports } = before.spec!;
            const manifest = {
                apiVersion: "v1",
                kind: "Service",
                metadata: { name: service },
                spec: { selector, ports },
            };
            return kubectl(["apply", "--namespace", namespace, "--filename", "-"], manifest);
        },
    ];

    it.each([isApplied, isSet])("%s", async (how, change, owners = undefined) => {
        const earlierOwners = ownersOfSelector(await current());
        const update = await begun({ "experiment.run": how.replaceAll(" ", "-"), "experiment.duration": "15s" });
        await sleep(2_000);
        await change();
        const isTheirs = async () => isDeepStrictEqual((await current()).spec!.selector, before.spec!.selector);
        await until("the Service selects what they want", isTheirs, { timeoutMs: 5_000, pauseMs: 50 });
        expect(await update.ended).toBe(0);
        expect((await stack.outputs()).experiment!.value).toMatchObject({
            verdict: "INCONCLUSIVE",
            reason: expect.stringMatching(
                /somebody changed the selector of Service hot-deals|logs job|has already ended/,
            ),
        });
        await stack.up({ "experiment.enabled": "false" });
        const after = await current();
        expect(after.spec!.selector).toEqual(before.spec!.selector);
        expect(ownersOfSelector(after)).toEqual(owners ?? earlierOwners);
    });
});
