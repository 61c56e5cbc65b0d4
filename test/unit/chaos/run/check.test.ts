import type { KnownRoutes } from "../../../../chaos/kinds/checks/endpoints";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { blackhole } from "../../../../chaos/kinds/attacks/blackhole";
import type { Attack } from "../../../../chaos/kinds/attacks/registry";
import { http, type HttpCheck } from "../../../../chaos/kinds/checks/http";
import type { KeptState } from "../../../../chaos/witness/protocol";
import { endRuns } from "../../../../chaos/ending/end-run";
import { acquireLease, noteAborted } from "../../../../chaos/lease/lease";
import type { Plan } from "../../../../chaos/definition/plan";
import { keptJournals } from "../../../support/kept-journals";
import type { Conclusion } from "../../../../chaos/report/conclusion";
import { AttackProofs } from "../../../../chaos/proof/attack-proofs";
import { knownPolicies } from "../../../../chaos/policies/known";
import { runPage } from "../../../../chaos/report/run-page";
import { check } from "../../../../chaos/run/check";
import type { LabeledTargets, SteadyState, StepContext } from "../../../../chaos/run/contract";
import { refuse } from "../support/fake-cluster";
import { attackObject, FakeRun, job, pass } from "../support/fake-run";
import { settled } from "../support/time";

let run: FakeRun;
let isPoliced: boolean;
let policies: LabeledTargets["policies"];
let ownPolicies: LabeledTargets["ownPolicies"];
let workloads: LabeledTargets["workloads"];
const chosenBy = "7b1e";
beforeEach(async () => {
    run = new FakeRun();
    await run.label();
    run.attack();
    isPoliced = false;
    policies = [];
    ownPolicies = undefined;
    workloads = undefined;
});
afterEach(() => run.close());

const found: SteadyState = { latencyMs: 5, runName: "run", pass, checks: [] };

/** Runs the check on the attacked pod. @param more of the step's context @param attacks chosen for each */
function step(
    more: Partial<StepContext> = {},
    steadyState = found,
    attacks: LabeledTargets["attacks"] = [{ name: "blackhole", matching: 2, targets: [run.target()], chosenBy }],
): Promise<Conclusion> {
    const targets = { attacks, baselineMs: 30, isPoliced, policies, ownPolicies, workloads };
    return settled(check({ ...run.context, ...more }, { steadyState, targets, deadlineJob: job }));
}
const journal = () => keptJournals(run.plan.reports)[0]!;
const endAttack = () => run.cluster.remove("NetworkPolicy", attackObject);
/** Makes the checks fail. */
const breakApplication = () => ["hot-deals-1", "hot-deals-2"].forEach((pod) => run.setReady(pod, false));

it("the journal has the workloads that were found with the targets, and the uid of their namespace", async () => {
    const [api, web] = ["k8s.deployment=api,k8s.namespace=demo", "k8s.deployment=web,k8s.namespace=demo"];
    workloads = [api, web];
    const chosen = { name: "blackhole", matching: 2, targets: [run.target()], chosenBy };
    const attacks = [{ ...chosen, workloads: [api], peerWorkloads: [web] }];
    await step({}, { ...found, namespaceUid: "one" }, attacks);
    expect(journal()).toMatchObject({
        workloads,
        namespaceUid: "one",
        attacks: [{ workloads: [api], peerWorkloads: [web] }],
    });
});

describe("the verdict is PASSED", () => {
    it("if every check holds under a proven attack", async () => {
        expect(await step()).toMatchObject({
            name: "hot-deals-blackhole",
            verdict: "PASSED",
            reason:
                "100% of 8 checks found 1 or more ready pods of k8s.deployment=hot-deals under attack " +
                "(required: 100%); none failed.",
            attack: "blackhole",
            targets: ["demo/hot-deals-1/hot-deals"],
            requests: 12,
            successRate: "100%",
            timeToFirstFailureMs: null,
            timeToStabilityMs: 0,
            checks: [{ name: "pods", held: true }],
        });
        expect(run.said[0]).toBe("Proven: hot-deals-1 is cut off from the network. Checking pods for 3 s");
        expect(run.said.at(-2)).toMatch(/^PASSED: 100% of 8/);
    });

    it("and the reason names pods of the targets' workload that were terminating: they may have answered", async () => {
        run.addPod("hot-deals-0", "10.0.0.9");
        run.cluster.get("Pod", "hot-deals-0").metadata.deletionTimestamp = new Date().toISOString();
        expect((await step()).reason).toMatch(
            / Pods of the targets' workload that were terminating .* may have answered: hot-deals-0\.$/,
        );
    });

    it("if a check fails only in the grace period", async () => {
        breakApplication();
        run.after(900, () => run.setReady("hot-deals-2", true));
        expect(await step()).toMatchObject({ verdict: "PASSED", timeToFirstFailureMs: expect.any(Number) });
    });
});

describe("in a namespace with other NetworkPolicies, the targets get the label by which these let go,", () => {
    const attacked = () => run.cluster.get("Pod", "hot-deals-1").metadata.labels?.["chaos-experiments/attacked"];
    beforeEach(() => {
        isPoliced = true;
    });

    it("before the attack is proven", async () => {
        expect(await step()).toMatchObject({ verdict: "PASSED" });
        expect(attacked()).toBe(chosenBy);
    });

    it("and the witness is not admitted any longer than its proofs take", async () => {
        const own = { "chaos-experiments/experiment": run.plan.experiment };
        const labels = { ...own, "chaos-experiments/witness": run.plan.experiment };
        run.cluster.add("NetworkPolicy", "run-admit-witness-1", { metadata: { labels } });
        await step();
        expect(run.cluster.names("NetworkPolicy")).toEqual([attackObject]);
    });

    it("and elsewhere do not", async () => {
        isPoliced = false;
        await step();
        expect(attacked()).toBeUndefined();
    });

    it("and there is no verdict if one is gone that was there before", async () => {
        policies = [{ name: "allow", uid: "allow", podSelector: {}, allows: { ingress: "0a1b2c3d" } }];
        run.cluster.add("NetworkPolicy", "deny", { spec: { podSelector: {}, policyTypes: ["Ingress"] } });
        expect(await step()).toMatchObject({
            verdict: "INCONCLUSIVE",
            reason: expect.stringContaining("the NetworkPolicy allow was deleted during the run"),
        });
    });

    it("and the verdict says so if the Job ended the run for want of one, before the attack was proven", async () => {
        ownPolicies = [{ name: "run-admit-1", podSelector: {}, ways: ["ingress"], from: { allow: "0a1b2c3d" } }];
        run.enforced = false;
        run.after(1_000, endAttack);
        expect(await step()).toMatchObject({
            verdict: "INCONCLUSIVE",
            code: "policy-denies",
            reason: expect.stringMatching(/^the NetworkPolicy allow, .* run-admit-1, was deleted during the run\.$/),
        });
    });

    it("but not if the attack is over", async () => {
        endAttack();
        expect(await step()).toMatchObject({ verdict: "INCONCLUSIVE" });
        expect(attacked()).toBeUndefined();
    });

    it("and lose it if the attack was ended at that moment", async () => {
        run.cluster.intercept = (call) => {
            if (call === "patch Pod" && attacked() === undefined) endAttack();
        };
        expect(await step()).toMatchObject({ verdict: "INCONCLUSIVE" });
        expect(attacked()).toBeUndefined();
    });

    it("and lose it if the Job had ended the run before, while this machine slept: its labels are gone", async () => {
        run.cluster.get("Pod", "hot-deals-1").metadata.labels = {};
        expect(await step()).toMatchObject({
            verdict: "INCONCLUSIVE",
            reason: expect.stringContaining("a target has lost its label before its attack could begin"),
        });
        expect(run.cluster.get("Pod", "hot-deals-1").metadata.labels).toEqual({});
    });

    it("and lose it if the Job is just ending the run, and has not come to every target", async () => {
        run.cluster.get("Pod", "hot-deals-2").metadata.labels = {
            ...run.cluster.get("Pod", "hot-deals-1").metadata.labels,
        };
        run.cluster.get("Pod", "hot-deals-1").metadata.labels = {};
        expect(await step()).toMatchObject({ verdict: "INCONCLUSIVE" });
        expect(attacked()).toBeUndefined();
    });

    it("and none keeps it if labeling fails and the attack is over", async () => {
        run.addPod("hot-deals-3", "10.0.0.3");
        let fails = true;
        run.cluster.intercept = (call) => {
            if (call !== "patch Pod" || !fails) return;
            fails = false;
            endAttack();
            refuse(500, "the server is busy");
        };
        run.cluster.get("Pod", "hot-deals-3").metadata.labels = {
            "chaos-experiments/attacked": "hot-deals-blackhole.blackhole",
        };
        expect(await step()).toMatchObject({
            verdict: "INCONCLUSIVE",
            reason: expect.stringContaining("the cluster could not be asked"),
        });
        expect(run.cluster.get("Pod", "hot-deals-3").metadata.labels).toEqual({});
    });

    it("and the verdict is INCONCLUSIVE if one is gone", async () => {
        run.cluster.intercept = (call) => {
            if (call === "patch Pod") refuse(404, "gone");
        };
        expect(await step()).toMatchObject({
            verdict: "INCONCLUSIVE",
            reason: expect.stringContaining("a target was gone before its attack could begin"),
        });
    });
});

describe("an attack that blocks more than it should", () => {
    beforeEach(() => {
        run.plan.attacks[0]!.attack = { kind: "blackhole", direction: "ingress" };
    });

    it("is INCONCLUSIVE, and the reason names what else is blocked", async () =>
        expect(await step()).toMatchObject({
            verdict: "INCONCLUSIVE",
            reason: expect.stringMatching(
                /^the attack blocks more than it should: .* hot-deals-1\/hot-deals to another pod/,
            ),
        }));
});

describe("the verdict is FAILED", () => {
    it("if a check does not hold under a proven attack", async () => {
        breakApplication();
        expect(await step()).toMatchObject({
            verdict: "FAILED",
            reason: expect.stringMatching(/^0% of 8 .*; last failure: 0 ready \(required: at least 1\)$/),
            checks: [{ name: "pods", held: false }],
            timeToStabilityMs: null,
        });
    });
});

describe("after a FAILED of a Deployment with one replica,", () => {
    const only = "hot-deals-7d9f8b5c6d-abcd1";
    const failing = async () => {
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.cluster.remove("Pod", pod);
        run.addPod(only, "10.0.0.3");
        endAttack();
        await run.label(only);
        run.attack();
        const template = { spec: { containers: [{ name: "hot-deals" }] } };
        run.cluster.get("Deployment", "hot-deals").spec = { replicas: 1, selector: {}, template };
        run.after(500, () => run.setReady(only, false));
        const workloads = ["k8s.deployment=hot-deals,k8s.namespace=demo"];
        return step({}, found, [{ name: "blackhole", matching: 1, targets: [run.target(only)], chosenBy, workloads }]);
    };
    const command = "kubectl --namespace demo scale deployment hot-deals --replicas=2";

    it("the output, the journal and the printed lines say what would have passed", async () => {
        const { verdict, advice } = await failing();
        expect([verdict, advice?.map((one) => one.command)]).toEqual(["FAILED", [command]]);
        expect(journal().conclusion.advice).toEqual(advice);
        const verdictAt = run.said.findIndex((line) => line.startsWith("FAILED: "));
        expect(run.said.slice(verdictAt + 1, verdictAt + 4)).toEqual([
            expect.stringMatching(/^What was seen: Deployment hot-deals had 1 replica/),
            expect.stringContaining(command),
            "To show it: pulumi config set experiment.run '1 again' && pulumi up",
        ]);
    });

    it("a run by another command is done again by that", async () => {
        run.plan.command = "npm run experiment -- hot-deals-blackhole";
        await failing();
        expect(run.said).toContain("To show it: npm run experiment -- hot-deals-blackhole");
    });

    it("nothing is said if an EndpointSlice that is made by hand leads to the pod, ready or not", async () => {
        run.cluster.add("EndpointSlice", "by-hand", {
            metadata: { labels: { "kubernetes.io/service-name": "hot-deals" } },
            endpoints: [{ addresses: ["10.0.0.3"] }],
        });
        expect((await failing()).advice).toBeUndefined();
    });

    it("nothing is said if an autoscaler has set the number of pods", async () => {
        run.cluster.get("Deployment", "hot-deals").metadata.managedFields = [
            { manager: "kube-controller-manager", subresource: "scale", fieldsV1: { "f:spec": { "f:replicas": {} } } },
        ];
        expect((await failing()).advice).toBeUndefined();
    });

    it.each<[string, string, string[] | undefined]>([
        ["the Deployment may not be read: nothing is said", "get Deployment", undefined],
        ["budgets may not be listed: the rest is said", "list PodDisruptionBudget", [command]],
    ])("%s", async (_, refused, commands) => {
        run.cluster.intercept = (call) => {
            if (call === refused) refuse(403, "forbidden");
        };
        const { verdict, advice } = await failing();
        expect([verdict, advice?.map((one) => one.command)]).toEqual(["FAILED", commands]);
    });
});

it("a check that failed beyond doubt makes the verdict FAILED, whatever another check did not see", async () => {
    const [pods] = run.plan.checks;
    run.plan.checks = [{ ...pods!, name: "seldom", intervalMs: 60_000 }, pods!];
    breakApplication();
    expect(await step()).toMatchObject({
        verdict: "FAILED",
        reason: expect.stringMatching(/^pods: 0% of 8 .*; last failure: 0 ready \(required: at least 1\)$/),
        checks: [{ name: "pods", held: false }],
    });
});

describe("the verdict is INCONCLUSIVE", () => {
    async function reason(steadyState?: SteadyState): Promise<string> {
        const { verdict, code, reason, checks } = await step({}, steadyState);
        expect([verdict, checks]).toEqual(["INCONCLUSIVE", []]);
        expect(reason).toMatch(/\.$/);
        return `${code}: ${reason}`;
    }

    it("if the cluster does not enforce NetworkPolicies", async () => {
        run.enforced = false;
        expect(await reason()).toMatch(/^attack-not-proven: .* still accepted/);
        expect(journal()).not.toHaveProperty("attackedAt");
    });

    it("if the attack does not hold until the end of the window", async () => {
        run.after(2_000, () => run.report({ at: Date.now(), open: ["10.0.0.1:8080"], closed: [] }));
        expect(await reason()).toMatch(/^attack-not-held: .* became reachable again/);
    });

    it("if the attack was over before the check, and then tells how to start another run", async () => {
        endAttack();
        expect(await reason()).toContain(
            "run-over: the attack of run 1 has already ended. Start another run: " +
                "pulumi config set experiment.run '1 again'",
        );
    });

    it("if the attack ends before it is proven, and then says what was seen of it", async () => {
        run.enforced = false;
        run.after(2_000, endAttack);
        expect(await reason()).toMatch(
            /^run-over: the attack of run 1 has already ended; last seen of it: .* still accepted .*\. Start another/,
        );
    });

    it.each(["service-changed", "proxy-failed"] as const)(
        "if a fault ends before it is proven by what the run's end does not bring about: %s",
        async (code) => {
            vi.spyOn(AttackProofs.prototype, "prove").mockImplementation(async () => {
                endAttack();
                return { code, message: "it was seen" };
            });
            expect(await reason()).toBe(`${code}: it was seen.`);
        },
    );

    it("if the attack ends after the last proof", async () => {
        // The last probe begins a second before the end of the window, at 3 s. The network lifts the policy later.
        run.after(2_500, () => {
            run.reporting = false;
            endAttack();
        });
        expect(await reason()).toContain("run-over: the attack of run 1 has already ended");
    });

    it("if an action fails", async () => {
        run.plan.actions = [
            { kind: "wait", durationMs: 500 },
            { kind: "scale", deployment: "gone", replicas: 2 },
            { kind: "scale", deployment: "hot-deals", replicas: 3 },
        ];
        expect(await reason()).toContain(
            "action-failed: it was not possible to scale gone to 2: there is no Deployment gone in namespace demo",
        );
        expect(journal().conclusion.actions).toEqual(["wait 500 ms"]);
        expect(run.cluster.get("Deployment", "hot-deals").spec.replicas).toBe(2);
    });

    it("if the cluster cannot be asked", async () => {
        run.cluster.intercept = (call) => {
            if (call === "get Pod/log") throw new Error("connect ECONNREFUSED.");
        };
        expect(await reason()).toBe("api-server-unavailable: the cluster could not be asked: connect ECONNREFUSED.");
    });

    it("if the account may not ask the cluster, and then names the right", async () => {
        run.cluster.intercept = (call) => {
            if (call !== "get Pod/log") return;
            refuse(
                403,
                'pods is forbidden: User "ada" cannot get resource "pods/log" in API group "" in the namespace "demo"',
            );
        };
        expect(await reason()).toContain(
            'the cluster could not be asked: the account "ada" may not get pods/log in namespace demo (403). Ask the ' +
                "cluster's administrator for that right, then check: kubectl auth can-i get pods --subresource=log",
        );
    });

    it("if the machine slept during the run", async () => {
        run.after(1_500, () => vi.setSystemTime(Date.now() + 5_000));
        expect(await reason()).toContain("clock-shift: this machine's clock moved 5 s forward");
    });

    it.each([500, 1_500])("if the clock is set back after %i ms, by more than the grace period", async (afterMs) => {
        breakApplication();
        run.after(afterMs, () => vi.setSystemTime(Date.now() - 60_000));
        expect(await reason()).toContain("clock-shift: this machine's clock moved 1 min back");
        expect(journal().conclusion.timeToFirstFailureMs).toBe(0);
    });

    it("if the clock is set back between the proofs of two attacks", async () => {
        const [blackhole] = run.plan.attacks;
        run.plan.attacks = [blackhole!, { ...blackhole!, name: "dns", attack: { kind: "dns" } }];
        await run.label("hot-deals-2", "hot-deals-blackhole.dns");
        const cutAt = performance.now() + 4_000;
        run.probe = (pod) => pod === "hot-deals-2" && performance.now() < cutAt;
        run.after(2_000, () => vi.setSystemTime(Date.now() - 60_000));
        const attacks = [
            { name: "blackhole", matching: 2, targets: [run.target("hot-deals-1")] },
            { name: "dns", matching: 2, targets: [run.target("hot-deals-2")] },
        ];
        run.cluster.add("NetworkPolicy", "run-dns");
        breakApplication();
        expect(await step({}, found, attacks)).toMatchObject({
            verdict: "INCONCLUSIVE",
            reason: expect.stringContaining("this machine's clock moved 1 min back"),
        });
    });

    it("if the answers that say nothing about the application decide it", async () => {
        run.after(2_000, () => {
            run.cluster.intercept = (call) => {
                if (call === "list ReplicaSet") throw new Error("connect ECONNREFUSED");
            };
        });
        expect(await reason()).toMatch(
            /^application-not-seen: \S+% of 8 requests of the check pods did .*; the last: connect ECONNREFUSED/,
        );
    });

    const proxy = { kind: "apiServer", path: "/api/v1/namespaces/demo/services/gateway:80/proxy" } as const;
    const service = { namespace: "demo", name: "gateway", port: 80 };
    it.each<[string, Pick<Plan, "service">, Partial<HttpCheck>, KnownRoutes]>([
        ["the Service", { service }, {}, { route: proxy }],
        ["a Service that they name", {}, { service: "gateway" }, { routes: { "http://demo/gateway": proxy } }],
    ])("if the API server stops answering while the checks ask %s through it", async (_, plan, fields, routes) => {
        const check = { kind: "http", path: "/products", ...fields } as const;
        Object.assign(run.plan, plan, { checks: [{ ...run.plan.checks[0]!, name: "/products", check }] });
        const read = vi.fn().mockResolvedValue({});
        run.cluster.api.read = read;
        run.after(1_500, () => read.mockReturnValue(new Promise(() => undefined)));
        run.after(2_500, () => read.mockResolvedValue({}));
        vi.spyOn(http, "probe").mockImplementation(async (_check, { pulse }) => {
            const at = Date.now();
            const unseen = (await pulse!.answeredSince(performance.now())) ? undefined : (true as const);
            return { at, latencyMs: 5, good: unseen === undefined, unseen, problem: "no answer within 1000 ms" };
        });
        expect(await reason({ ...found, ...routes })).toContain(
            "requests of the check /products did not reach the application",
        );
    });

    it("if a check has no counted answer: nothing shows that it holds, or that it does not", async () => {
        run.plan.window = { graceMs: 3_000, durationMs: 0 };
        expect(await reason()).toBe(
            "too-few-answers: the check pods sent no request after the grace period; make its interval shorter, or " +
                "the window longer.",
        );
        expect(journal().conclusion.requests).toBe(12);
    });
});

describe("once no verdict is possible any more, the run ends within seconds, and says when it saw that:", () => {
    beforeEach(() => {
        run.plan.window = { graceMs: 1_000, durationMs: 3_600_000 };
    });
    const added = { podSelector: {}, policyTypes: ["Ingress"] };

    it.each<[string, string, string, () => void]>([
        [
            "its target is gone",
            "target-changed",
            "the target hot-deals-1 was gone",
            () => run.cluster.remove("Pod", "hot-deals-1"),
        ],
        ["somebody ended its attack", "attack-not-held", "became reachable again during the run", endAttack],
        [
            "a policy came that denies traffic",
            "policy-denies",
            "the NetworkPolicy deny was created",
            () => run.cluster.add("NetworkPolicy", "deny", { spec: added }),
        ],
    ])("%s", async (_, code, seen, happens) => {
        const begun = Date.now();
        run.after(6_000, happens);
        const { verdict, reason, ...rest } = await step();
        expect([verdict, rest.code]).toEqual(["INCONCLUSIVE", code]);
        expect(reason).toContain(seen);
        expect(reason).toMatch(/this was seen \d+ s after the attack was proven, and the run ended then\.$/);
        expect(Date.now() - begun).toBeLessThan(30_000);
        expect(rest.lasts).toBeUndefined();
        expect(run.cluster.names("NetworkPolicy")).not.toContain(attackObject);
    });
});

describe("a run ends within seconds once a policy may allow what its attack denies, though nothing showed it:", () => {
    const web = { matchLabels: { app: "web" } };
    const line = { key: "chaos-experiments/attacked", operator: "NotIn", values: [chosenBy] };
    const hotDeals = () => run.cluster.get("Pod", "hot-deals-1");
    const allowWeb = () => run.cluster.get("NetworkPolicy", "allow-web");
    const restore = () => delete allowWeb().spec.podSelector.matchExpressions;
    const spec = (way: "ingress" | "egress", app: string) => ({
        podSelector: { matchLabels: { app }, matchExpressions: [line] },
        policyTypes: [way === "ingress" ? "Ingress" : "Egress"],
        [way]: [way === "ingress" ? { from: [{ podSelector: web }] } : { to: [{ podSelector: web }] }],
    });
    beforeEach(() => {
        isPoliced = true;
        run.plan.window = { graceMs: 1_000, durationMs: 3_600_000 };
        Object.assign(hotDeals().metadata.labels!, { app: "hot-deals" });
    });
    const given = (policy: object) => {
        run.cluster.add("NetworkPolicy", "allow-web", { metadata: { uid: "allow-web" }, spec: policy });
        policies = knownPolicies([allowWeb()]);
    };

    it.each<[string, object, () => void, string]>([
        ["a tool restores its selector", spec("ingress", "hot-deals"), restore, "ingress to"],
        [
            "the target gets the labels that another selects",
            { ...spec("ingress", "replica"), podSelector: { matchLabels: { app: "replica" } } },
            () => (hotDeals().metadata.labels!.app = "replica"),
            "ingress to",
        ],
    ])("%s", async (_, policy, happens, way) => {
        given(policy);
        const begun = Date.now();
        run.after(6_000, happens);
        const { verdict, code, reason } = await step();
        expect([verdict, code]).toEqual(["INCONCLUSIVE", "policy-allows"]);
        expect(reason).toContain(`the NetworkPolicy allow-web may allow ${way} the target hot-deals-1`);
        expect(reason).toMatch(/this was seen \d+ s after the attack was proven, and the run ended then\.$/);
        expect(Date.now() - begun).toBeLessThan(30_000);
    });

    it("not while the end of the run, which restores policies first, removes its attack", async () => {
        given(spec("ingress", "hot-deals"));
        run.probe = () => false;
        run.after(6_000, () => {
            run.reporting = false;
            restore();
        });
        run.after(8_500, endAttack);
        expect(await step()).toMatchObject({ verdict: "INCONCLUSIVE", code: "run-over" });
    });

    it("nor while that end goes on, although somebody has made the attack again under its name", async () => {
        given(spec("ingress", "hot-deals"));
        run.probe = () => false;
        const { metadata, ...attack } = run.cluster.get("NetworkPolicy", attackObject);
        run.after(6_000, () => {
            run.reporting = false;
            endAttack();
            restore();
            hotDeals().metadata.labels = { app: "hot-deals" };
            run.cluster.get("Pod", job).status.phase = "Succeeded";
        });
        run.after(7_000, () =>
            run.cluster.add("NetworkPolicy", attackObject, { ...attack, metadata: { ...metadata, uid: "again" } }),
        );
        expect(await step()).toMatchObject({ verdict: "INCONCLUSIVE", code: "run-over" });
    });
});

describe("what became of established connections", () => {
    const answering = { "10.0.0.1:8080": "answering", "API server": "answering" } as const;

    /** Has the connections to the target show this from so long after the attack on. */
    async function keepOpen(later: Record<string, KeptState>, afterMs: number): Promise<void> {
        endAttack();
        run.kept = () => answering;
        await vi.advanceTimersByTimeAsync(500);
        run.attack();
        run.plan.window = { graceMs: 1_000, durationMs: 9_000 };
        run.after(afterMs, () => (run.kept = () => later));
    }

    it.each<[string, Record<string, KeptState>]>([
        ["survived", answering],
        ["cut after 2 s", { ...answering, "10.0.0.1:8080": "lost" }],
        ["unknown", { "10.0.0.1:8080": "lost", "API server": "lost" }],
    ])("is told, and in the conclusion and the journal: %s", async (became, later) => {
        await keepOpen(later, 2_000);
        const { verdict, established, reason } = await step();
        expect(verdict).toBe("PASSED");
        const limit = " Established connections into the targets survived.";
        expect(reason.endsWith(limit)).toBe(became === "survived");
        expect(established).toMatchObject([{ attack: "blackhole", direction: "inward", became }]);
        expect(run.said.at(-3)).toBe(`Established connections (inward): ${became}`);
        expect(journal().attacks[0]!.established).toMatchObject({ direction: "inward", became: became.split(" ")[0] });
        expect(journal().conclusion.established).toEqual(established);
    });

    it("makes the verdict INCONCLUSIVE if they must be cut and survive", async () => {
        run.plan.attacks[0]!.established = "cut";
        await keepOpen(answering, 2_000);
        expect(await step()).toMatchObject({ verdict: "INCONCLUSIVE", code: "established-not-cut" });
    });

    it("is not known of a target that is gone: they ended with it", async () => {
        await keepOpen(answering, 2_000);
        run.after(3_000, () => run.cluster.remove("Pod", "hot-deals-1"));
        const { code, established } = await step();
        expect(code).toBe("target-changed");
        expect(established).toMatchObject([{ became: "unknown", reason: expect.stringContaining("was gone") }]);
    });

    it("leaves the verdict alone if they must be cut and are", async () => {
        run.plan.attacks[0]!.established = "cut";
        await keepOpen({ ...answering, "10.0.0.1:8080": "lost" }, 500);
        expect(await step()).toMatchObject({ verdict: "PASSED" });
    });

    it("is not said of an attack that is not proven", async () => {
        run.enforced = false;
        expect(await step()).not.toHaveProperty("established");
    });
});

describe("the actions", () => {
    beforeEach(() => {
        run.plan.actions = [{ kind: "scale", deployment: "hot-deals", replicas: 3 }];
    });

    it("are done while the attacks last, and are in the conclusion and the journal", async () => {
        expect(await step()).toMatchObject({ verdict: "PASSED", actions: ["scale hot-deals to 3"] });
        expect(run.cluster.get("Deployment", "hot-deals").spec.replicas).toBe(3);
        expect(journal().actions).toMatchObject([{ action: "scale hot-deals to 3" }]);
    });

    it("are not done without a proven attack", async () => {
        run.enforced = false;
        await step();
        expect(run.cluster.get("Deployment", "hot-deals").spec.replicas).toBe(2);
    });
});

describe("experiment.onFailure=fail", () => {
    beforeEach(async () => {
        run.plan.onFailure = "fail";
        await acquireLease(run.cluster.api, { stack: "ours", plan: run.plan });
    });

    it("fails the update with the verdict once the attack is undone and every check is steady", async () => {
        breakApplication();
        run.after(10_000, () => run.setReady("hot-deals-2", true));
        await expect(step()).rejects.toThrow(
            /^FAILED: 0% of .* The attack is undone, and pods succeeded again; the journal is \S+\.json$/,
        );
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
        expect(run.cluster.names("Lease")).toEqual([]);
        expect(journal().conclusion.verdict).toBe("FAILED");
    });

    it("leaves a passed run as it is", async () => {
        expect(await step()).toMatchObject({ verdict: "PASSED" });
        expect(run.cluster.names("NetworkPolicy")).toEqual([attackObject]);
    });
});

describe("an attack that stays until it is disabled", () => {
    it("is said to stay, until when at most, and what ends it, in the last line and in the output", async () => {
        const startedAt = Date.now();
        const { lasts } = await step();
        const deadline = new Date(startedAt + 600_000).toISOString().replace(/\.\d+/, "");
        expect(lasts).toBe(
            `until the experiment is disabled, or until ${deadline} at the latest. ` +
                "To end it: pulumi config set experiment.enabled false && pulumi up",
        );
        expect(run.said.at(-1)).toBe(`The attack stays ${lasts}`);
        expect(run.cluster.names("NetworkPolicy")).toEqual([attackObject]);
    });

    it.each<[string, string, () => void]>([
        ["is gone", "is gone: somebody has deleted it", () => run.cluster.remove("Job", job)],
        ["crashes", "has no running pod after 15 s", () => (run.cluster.get("Pod", job).status.containerStatuses = [])],
    ])("is ended with its verdict all the same if the Job %s: nothing else would end it", async (_, why, lose) => {
        await acquireLease(run.cluster.api, { stack: "ours", plan: run.plan });
        run.after(2_900, lose);
        expect(await step()).not.toHaveProperty("lasts");
        expect(run.said).toContainEqual(
            `Nothing would end the attack on time, which is ended now: ` +
                `the Job run-deadline, which must undo the run at its deadline, ${why}`,
        );
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
    });

    it("of an experiment in a program is ended there", async () => {
        run.plan.settings = undefined;
        expect((await step()).lasts).toMatch(/To end it: set `enabled` to false in the program, then run `pulumi up`$/);
    });

    it("is ended if another attack of the run was ended: it is over, and would go on unseen", async () => {
        await acquireLease(run.cluster.api, { stack: "ours", plan: run.plan });
        await run.label();
        endAttack();
        expect(await step()).toMatchObject({ verdict: "INCONCLUSIVE", code: "run-over" });
        expect(run.cluster.get("Pod", "hot-deals-1").metadata.labels).not.toHaveProperty(["chaos-experiments/target"]);
    });

    it.each<[string, () => void]>([
        ["was over before its verdict", endAttack],
        ["has failed the update, and is undone", () => void (run.plan.onFailure = "fail")],
    ])("is not said to stay if it %s", async (_, change) => {
        breakApplication();
        change();
        await step().catch(() => undefined);
        expect(journal().conclusion).not.toHaveProperty("lasts");
        expect(run.said.join("\n")).not.toContain("stays");
    });
});

it("a run that an earlier try has ABORTED is so again, for that reason", async () => {
    await acquireLease(run.cluster.api, { stack: "ours", plan: run.plan });
    await noteAborted(run.cluster.api, run.context, { code: "proxy-failed", message: "the proxy is not ready" });
    endAttack();
    await expect(step()).rejects.toThrow(
        /^ABORTED \(proxy-failed\): run 1 was .* its lease says: “the proxy is not ready”\. .*\. Start another run: /,
    );
    expect(journal().conclusion).toMatchObject({ verdict: "ABORTED", code: "proxy-failed" });
});

it("an attack whose journal cannot be written is ended: no verdict would end it", async () => {
    rmSync(run.plan.reports, { recursive: true });
    writeFileSync(run.plan.reports, "");
    await expect(step()).rejects.toThrow(/EEXIST|ENOTDIR/);
    expect(run.cluster.names("NetworkPolicy")).toEqual([]);
    expect(run.cluster.get("Pod", "hot-deals-1").metadata.labels).toEqual({});
});

describe("an attack that ends with its verdict", () => {
    beforeEach(async () => {
        delete run.plan.until;
        await acquireLease(run.cluster.api, { stack: "ours", plan: run.plan });
    });
    const lease = () => run.cluster.get("Lease", "chaos-experiment").metadata.annotations!;

    it("is over when the update ends, which has waited for recovery; the lease says so", async () => {
        breakApplication();
        run.cluster.intercept = (call) => {
            if (call === "delete NetworkPolicy") run.after(700, () => run.setReady("hot-deals-2", true));
        };
        const conclusion = await step();
        expect(conclusion).toMatchObject({ verdict: "FAILED", checks: [{ name: "pods", held: false }] });
        expect(conclusion).not.toHaveProperty("lasts");
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
        expect(run.cluster.get("Pod", "hot-deals-1").metadata.labels).toEqual({});
        expect(lease()).not.toHaveProperty(["chaos-experiments/run"]);
        expect(JSON.parse(lease()["chaos-experiments/ended"]!)).toEqual({
            at: journal().recovery!.undoneAt,
            recoveredAfterMs: journal().recovery!.recoveredAfterMs,
            checks: journal().recovery!.checks,
        });
        expect(journal().recovery!.recoveredAfterMs).toBeGreaterThanOrEqual(700);
        expect(journal()).not.toHaveProperty("aborted");
        expect(run.said.at(-1)).toMatch(/^Recovered: pods succeeded again [79]\d\d ms after the attack was undone$/);
    });

    it("ends without a proof, too", async () => {
        run.enforced = false;
        expect(await step()).toMatchObject({ verdict: "INCONCLUSIVE", code: "attack-not-proven" });
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
        expect(run.cluster.get("Pod", "hot-deals-1").metadata.labels).toEqual({});
    });

    it("fails the update if it could not be ended at once, after another try", async () => {
        let refusals = 0;
        run.cluster.intercept = (call) => {
            if (call === "delete NetworkPolicy" && ++refusals === 1) refuse(500, "the server is busy");
        };
        await expect(step()).rejects.toThrow(/^PASSED: .* The attack is undone/);
        expect(run.said).toContainEqual(expect.stringMatching(/^The attacks could not be ended at once: /));
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
        expect(journal().conclusion.verdict).toBe("PASSED");
    });

    it("keeps its verdict if the update was killed while it waited for recovery", async () => {
        breakApplication();
        const say = (line: string) => {
            if (line.startsWith("FAILED")) throw new Error("killed");
        };
        await expect(step({ say })).rejects.toThrow("killed");
        expect(await step()).toMatchObject({ verdict: "FAILED" });
        expect(keptJournals(run.plan.reports)).toHaveLength(1);
    });
});

describe("an abort rule", () => {
    beforeEach(async () => {
        run.plan.window = { graceMs: 1_000, durationMs: 60_000 };
        run.plan.checks[0]!.abort = { below: 0.5, overMs: 2_000 };
        await acquireLease(run.cluster.api, { stack: "ours", plan: run.plan });
    });
    /** Breaks the application until its attack is over. */
    const breakUntilEnd = () => {
        breakApplication();
        run.cluster.intercept = (call) => {
            if (call === "delete NetworkPolicy") run.setReady("hot-deals-2", true);
        };
    };

    describe("after an update that was killed while it waited for recovery", () => {
        beforeEach(async () => {
            breakApplication();
            // The journal is written by then.
            const say = (line: string) => {
                if (line.startsWith("FAILED")) throw new Error("killed");
            };
            await expect(step({ say })).rejects.toThrow("killed");
        });

        it("the next one finds the verdict in the journal", async () => {
            const again = await step();
            expect(again).toMatchObject({ verdict: "FAILED", reason: expect.stringMatching(/^aborted after /) });
            expect(run.said.at(-1)).toMatch(/^FAILED: aborted after /);
            expect(keptJournals(run.plan.reports)).toHaveLength(1);
        });

        it("the next one knows no verdict if the journal is an earlier run's of the same plan", async () => {
            run.setReady("hot-deals-2", true);
            await acquireLease(run.cluster.api, { stack: "ours", plan: run.plan });
            run.attack();
            await settled(endRuns(run.cluster.api, { stack: "ours", defaultNamespace: "demo" }));
            expect(await step()).toMatchObject({ verdict: "INCONCLUSIVE" });
        });
    });

    it("ends the attacks at once: FAILED, with the reason in the output, the journal and what is said", async () => {
        breakUntilEnd();
        const begun = Date.now();
        const conclusion = await step();
        expect(conclusion).toMatchObject({
            verdict: "FAILED",
            reason: expect.stringMatching(
                /^aborted after 2\.\d s: 0% of 8 checks found 1 or more ready pods of k8s\.deployment=hot-deals /,
            ),
            checks: [{ name: "pods", held: false }],
        });
        expect(conclusion.reason).toContain(
            "in the last 2 s (abort below 50%); last failure: 0 ready (required: at least 1)",
        );
        // Grace and window are 61 s.
        expect(Date.now() - begun).toBeLessThan(7_000);
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
        expect(run.cluster.get("Pod", "hot-deals-1").metadata.labels).toEqual({});
        const { aborted, attackedAt, recovery } = journal();
        expect(aborted).toMatchObject({ check: "pods", rate: "0%", answers: 8, below: "50%", overMs: 2_000 });
        // The last of eight answers, one every 250 ms, after a second of grace.
        expect(aborted!.afterMs).toBeGreaterThanOrEqual(2_750);
        expect(aborted!.afterMs).toBeLessThan(3_000);
        expect(aborted!.endedAt).toBeGreaterThan(attackedAt! + aborted!.afterMs);
        expect(recovery!.undoneAt).toBe(aborted!.endedAt);
        expect(run.said.slice(1, 2)).toEqual(["pods: success rate 0% over 2 s (abort below 50%); ending the attacks"]);
        expect(run.said.at(-1)).toMatch(/^Recovered: pods succeeded again .* after the attack was undone$/);
    });

    it("does not wait for a look at the attack that hangs", async () => {
        breakUntilEnd();
        vi.spyOn(AttackProofs.prototype, "whyLost").mockImplementation(() => new Promise(() => {}));
        const begun = Date.now();
        expect(await step()).toMatchObject({ verdict: "FAILED" });
        expect(Date.now() - begun).toBeLessThan(9_000);
    });

    it("does not wait for answers that are still missing", async () => {
        run.plan.service = { namespace: "demo", name: "gateway", port: 80 };
        const { intervalMs, abort } = run.plan.checks[0]!;
        const check = { kind: "http", path: "/products" } as const;
        run.plan.checks = [{ name: "/products", check, intervalMs, timeoutMs: 20_000, successRate: 1, abort }];
        let looks = 0;
        vi.spyOn(http, "probe").mockImplementation(async () => {
            const at = Date.now();
            // The last look before the abort, the 12th, is answered after the next ones are asked.
            const latencyMs = ++looks < 12 ? 5 : looks === 12 ? 600 : 20_000;
            return new Promise((resolve) =>
                setTimeout(() => resolve({ at, latencyMs, good: false, problem: "status 502" }), latencyMs),
            );
        });
        await step();
        const { aborted, attackedAt } = journal();
        expect(aborted!.endedAt! - attackedAt! - aborted!.afterMs).toBeLessThan(2_000);
        expect(journal().conclusion.requests).toBeGreaterThan(12);
    });

    it.each<[string, Attack, hangsFromMs: number]>([
        ["fail", { kind: "blackhole" }, 1_500],
        ["still work", { kind: "blackhole", direction: "ingress" }, 0],
    ])("does not wait for a process that tries what must %s, and hangs", async (_, attack, hangsFromMs) => {
        run.plan.attacks[0]!.attack = attack;
        breakUntilEnd();
        run.after(hangsFromMs, () => (run.cluster.api.exec = () => new Promise(() => undefined)));
        expect(await step()).toMatchObject({ verdict: "FAILED" });
        const { aborted, attackedAt } = journal();
        expect(aborted!.endedAt! - attackedAt! - aborted!.afterMs).toBeLessThan(3_000);
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
    });

    it("does not end a run whose checks fall below it only in the grace period, or not long enough", async () => {
        breakApplication();
        run.after(1_900, () => run.setReady("hot-deals-2", true));
        run.after(10_000, () => run.setReady("hot-deals-2", false));
        run.after(10_900, () => run.setReady("hot-deals-2", true));
        expect(await step()).toMatchObject({ verdict: "FAILED", reason: expect.stringMatching(/^9\d\.?\d*% of 240 /) });
        expect(run.cluster.names("NetworkPolicy")).toEqual([attackObject]);
        expect(journal()).not.toHaveProperty("aborted");
    });

    it("does not take for failures what did not see the application", async () => {
        run.after(2_000, () => {
            run.cluster.intercept = (call) => {
                if (call === "list ReplicaSet") throw new Error("connect ECONNREFUSED");
            };
        });
        expect(await step()).toMatchObject({ verdict: "INCONCLUSIVE" });
        expect(journal()).not.toHaveProperty("aborted");
    });

    it("gives no verdict if the attack has not held until then, and ends the run all the same", async () => {
        breakUntilEnd();
        run.after(2_000, () => run.report({ at: Date.now(), open: ["10.0.0.1:8080"], closed: [] }));
        expect(await step()).toMatchObject({
            verdict: "INCONCLUSIVE",
            reason: expect.stringContaining("became reachable again"),
            checks: [],
        });
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
        expect(journal().conclusion.requests).toBeLessThan(15);
    });

    it("gives no verdict if the attack is over by then", async () => {
        breakApplication();
        run.after(2_400, () => endAttack());
        expect(await step()).toMatchObject({ verdict: "INCONCLUSIVE" });
    });

    it("of one of several checks ends all attacks, and its reason stands alone", async () => {
        const [pods] = run.plan.checks;
        run.plan.checks = [
            { ...pods!, name: "strict", abort: undefined },
            { ...pods!, name: "other", check: { kind: "podsReady", of: "k8s.deployment=hot-deals", atLeast: 1 } },
            { ...pods!, name: "slow", abort: { below: 0.5, overMs: 30_000 } },
        ];
        breakUntilEnd();
        expect(await step()).toMatchObject({
            verdict: "FAILED",
            reason: expect.stringMatching(/^other: aborted after [\d.]+ s: 0% of 8 /),
            checks: ["strict", "other", "slow"].map((name) => ({ name, held: false })),
        });
        expect(journal().aborted!.check).toBe("other");
    });

    it("ends a wait that is under way, starts no further action, and restores what was scaled", async () => {
        run.plan.actions = [
            { kind: "scale", deployment: "hot-deals", replicas: 5 },
            { kind: "wait", durationMs: 50_000 },
            { kind: "scale", deployment: "hot-deals", replicas: 9 },
        ];
        breakUntilEnd();
        expect(await step()).toMatchObject({ verdict: "FAILED", actions: ["scale hot-deals to 5"] });
        expect(run.cluster.get("Deployment", "hot-deals").spec.replicas).toBe(2);
    });

    it("with experiment.onFailure=fail fails the update once everything is undone", async () => {
        run.plan.onFailure = "fail";
        breakUntilEnd();
        await expect(step()).rejects.toThrow(
            /^FAILED: aborted after [\d.]+ s: .* The attack is undone, and pods succeeded again; the journal is /,
        );
        expect(run.cluster.names("Lease")).toEqual([]);
        expect(journal().recovery).toBeDefined();
    });

    it("leaves the recovery to the next update if the application takes longer than a minute", async () => {
        breakApplication();
        expect(await step()).toMatchObject({ verdict: "FAILED" });
        expect(run.said.at(-1)).toBe("The attacks are over, but pods did not recover yet");
        expect(journal()).not.toHaveProperty("recovery");
    });

    it("keeps its verdict if the report cannot be completed with the recovery", async () => {
        breakApplication();
        const { reports } = run.plan;
        run.cluster.intercept = (call) => {
            const picture = existsSync(reports) && readdirSync(reports).find((file) => file.endsWith(".svg"));
            if (!picture || call !== "list ReplicaSet") return;
            rmSync(join(reports, picture), { recursive: true });
            mkdirSync(join(reports, picture));
            run.setReady("hot-deals-2", true);
        };
        expect(await step()).toMatchObject({ verdict: "FAILED" });
        expect(run.said.at(-2)).toMatch(/^The run's report could not be completed: EISDIR/);
        expect(run.said.at(-1)).toMatch(/^Recovered: pods succeeded again .* after the attack was undone$/);
    });

    it("fails the update if the attacks could not be ended at the first try, and tries again", async () => {
        breakUntilEnd();
        let refusals = 0;
        const restore = run.cluster.intercept;
        run.cluster.intercept = (call, request) => {
            restore(call, request);
            if (call === "delete NetworkPolicy" && ++refusals === 1)
                throw Object.assign(new Error("aborted"), { name: "AbortError" });
        };
        await expect(step()).rejects.toThrow(/^FAILED: aborted after .* The attack is undone/);
        expect(run.said).toContainEqual(
            expect.stringMatching(/^The attacks could not be ended at once: the API server did not answer in time\. /),
        );
        expect(run.cluster.names("NetworkPolicy")).toEqual([]);
        expect(journal().aborted).not.toHaveProperty("endedAt");
    });
});

describe("a target without a tool, which the experiment accepts,", () => {
    const unproven = () => {
        const attacks = [{ name: "blackhole", matching: 2, targets: [run.target()], withoutTool: ["hot-deals-1"] }];
        return step({}, found, attacks);
    };

    it("is attacked on the proof that nothing reaches it, and the verdict says so", async () => {
        run.probe = () => "no shell";
        const conclusion = await unproven();
        expect(conclusion).toMatchObject({
            verdict: "PASSED",
            reason: expect.stringMatching(
                /none failed\. Outward was not proven: nothing could be tried in hot-deals-1\.$/,
            ),
            outwardUnproven: [{ attack: "blackhole", pods: ["hot-deals-1"] }],
        });
        expect(run.said[0]).toMatch(/^Proven: hot-deals-1 is cut off .* \(inward; outward is not proven\)\./);
        expect(journal().attacks[0]!.withoutTool).toEqual(["hot-deals-1"]);
    });

    it("gives no verdict if something still reaches it", async () => {
        run.enforced = false;
        const { verdict, reason } = await unproven();
        expect(verdict).toBe("INCONCLUSIVE");
        expect(reason).not.toContain("Outward");
    });
});

describe("a kill", () => {
    it.each([
        ["", false, undefined],
        [", in a namespace with policies, too", true, undefined],
        ["; on certain nodes, the verdict says how far it came", false, ["node-a"]],
    ])("is proven by the Job's own kills, which are in the journal%s", async (_, among, nodes) => {
        endAttack();
        run.cluster.add("ConfigMap", "run-kill");
        const attack = { kind: "kill", by: "eviction" } as const;
        run.plan.attacks = [{ ...run.plan.attacks[0]!, name: "kill", attack }];
        const target = run.target();
        run.cluster.remove("Pod", "hot-deals-1");
        const label = "hot-deals-blackhole.kill";
        run.report({ at: Date.now(), killed: { pod: target.pod, uid: target.uid, label } });
        const refused = { pod: "hot-deals-2", uid: run.target("hot-deals-2").uid, problem: "a budget needs it" };
        run.report({ at: Date.now(), refused: { ...refused, label } });
        isPoliced = among;
        const attacks = [{ name: "kill", matching: 2, targets: [target], nodes }];
        const { reason, ...conclusion } = await step({}, found, attacks);
        expect(conclusion).toMatchObject({ verdict: "PASSED", attack: "kill" });
        if (nodes)
            expect(reason).toMatch(/\. On the nodes of its target, kill removed 1 pod, and one that is replaced /);
        else expect(reason).not.toContain("node");
        expect(journal().attacks[0]!.kills).toMatchObject([{ pod: "hot-deals-1", uid: target.uid }]);
        expect(journal().attacks[0]!.refused).toMatchObject([refused]);
        expect(runPage(journal())).toContain("; refused the eviction of hot-deals-2: a budget needs it");
    });
});

it("each answer of the window is appended to the answers file, in the order of asking", async () => {
    run.tryMs = 1_000;
    const file = join(run.plan.reports, "answers");
    await step({ answersFile: file });
    const answers = readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as object);
    expect(answers).toHaveLength(12);
    expect(answers[0]).toMatchObject({ check: "pods", good: true });
});

describe("what an attack keeps back until answers count", () => {
    const keepingBack = (beginCounting: () => Promise<void>) => {
        Object.assign(blackhole, { beginCounting });
        onTestFinished(() => void delete blackhole.beginCounting);
    };

    it("begins after the grace period, when it is known what was counted before", async () => {
        const begun: number[] = [];
        keepingBack(async () => void begun.push(Date.now()));
        expect(await step()).toMatchObject({ verdict: "PASSED" });
        const { attackedAt } = journal();
        expect(begun.map((at) => Math.round((at - attackedAt!) / 100))).toEqual([10]);
    });

    it("leaves no verdict if it cannot begin", async () => {
        keepingBack(() => Promise.reject(new Error("connect ECONNREFUSED.")));
        expect(await step()).toMatchObject({ verdict: "INCONCLUSIVE", code: "api-server-unavailable" });
    });
});

it("a run whose only fault cannot begin is ABORTED, and undone: nobody was attacked", async () => {
    const attack = { kind: "fault", service: "hot-deals", delay: "1s" } as const;
    run.plan.attacks = [{ ...run.plan.attacks[0]!, name: "fault", attack }];
    const proxy = { metadata: { annotations: { "chaos-experiments/targets": "hot-deals-1" } } };
    run.cluster.add("Pod", "run-fault", { ...proxy, status: { phase: "Failed" } });
    const service = { service: "hot-deals", selector: {}, ports: [], pods: [] };
    const attacks = [{ name: "fault", matching: 2, targets: [run.target()], found: service }];
    await expect(step({}, found, attacks)).rejects.toThrow(/^ABORTED \(proxy-failed\)/);
    expect(run.cluster.get("Pod", "hot-deals-1").metadata.labels?.["chaos-experiments/target"]).toBeUndefined();
    expect(journal().conclusion).toMatchObject({ verdict: "ABORTED", code: "proxy-failed" });
});
