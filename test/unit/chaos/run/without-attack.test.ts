import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Action } from "../../../../chaos/kinds/actions/registry";
import { scale as scaleKind } from "../../../../chaos/kinds/actions/scale";
import { isRequired, resources } from "../../../../chaos/cluster/resources";
import { runNameOf } from "../../../../chaos/definition/plan";
import { jobNameOf } from "../../../../chaos/pods/job-name";
import { releaseLease } from "../../../../chaos/lease/lease";
import { permissionsOf } from "../../../../chaos/rights/permissions";
import { keptJournals } from "../../../support/kept-journals";
import { check } from "../../../../chaos/run/check";
import { nothingAttacked } from "../../../../chaos/run/contract";
import { labelTargets } from "../../../../chaos/run/label-targets";
import { recovery } from "../../../../chaos/run/recovery";
import { steadyState } from "../../../../chaos/run/steady-state";
import { limit } from "../support/fake-rbac";
import { FakeRun, job, pass } from "../support/fake-run";
import { settled } from "../support/time";

const scale: Action = { kind: "scale", deployment: "hot-deals", replicas: 3 };
const rollout: Action = { kind: "rollout", deployment: "hot-deals" };

let run: FakeRun;
beforeEach(() => {
    run = new FakeRun();
    run.plan.attacks = [];
    run.plan.window = { graceMs: 0, durationMs: 2_000 };
});
afterEach(() => run.close());

const found = () => ({ latencyMs: 5, runName: runNameOf(run.plan, run.context.stack), pass, checks: [] });
const begin = async () => {
    const seen = await settled(steadyState(run.context, {}));
    run.cluster.add("Job", jobNameOf(found().runName));
    run.cluster.addRightsOfJob(jobNameOf(found().runName));
    return seen;
};
const observe = () => settled(check(run.context, { steadyState: found(), ...nothingAttacked, deadlineJob: job }));
const breakApplication = () => ["hot-deals-1", "hot-deals-2"].forEach((pod) => run.setReady(pod, false));
const journal = () => keptJournals(run.plan.reports)[0]!;

describe("a run without an attack", () => {
    it("says so in its verdict, counts all answers, and lasts as long as its window", async () => {
        await begin();
        expect(await observe()).toMatchObject({
            verdict: "PASSED",
            reason:
                "100% of 8 checks found 1 or more ready pods of k8s.deployment=hot-deals without an attack " +
                "(required: 100%); none failed.",
            attack: "none",
            targets: [],
            requests: 8,
        });
        expect(run.said).toContain("Nothing is attacked. Checking pods for 2 s");
        expect(journal()).toMatchObject({ attacks: [] });
        expect(journal().attackedAt).toBeUndefined();
    });

    it("fails if a check does not hold", async () => {
        await begin();
        run.after(1_000, breakApplication);
        expect(await observe()).toMatchObject({
            verdict: "FAILED",
            reason: expect.stringMatching(/^50% of 8 .* without an attack .*; last failure: 0 ready/),
        });
    });

    it("labels nothing and touches no object but the lease", async () => {
        await begin();
        await observe();
        await settled(recovery(run.context, {}));
        const changes = run.cluster.calls.filter((call) => /^(create|patch|replace|delete)(?! SelfSubject)/.test(call));
        expect(new Set(changes)).toEqual(new Set(["create Lease", "delete Lease"]));
    });

    it("has nothing to recover from, also if its checks fail, unless it has acted", async () => {
        await begin();
        await observe();
        breakApplication();
        const begun = Date.now();
        expect(await settled(recovery(run.context, {}))).toEqual({ recoveredAfterMs: null });
        expect(Date.now() - begun).toBeLessThan(1_000);
        expect(run.cluster.names("Lease")).toEqual([]);

        run.plan.actions = [rollout];
        run.after(2_000, () => run.setReady("hot-deals-1", true));
        const { recoveredAfterMs } = await settled(recovery(run.context, {}));
        expect(recoveredAfterMs).toBeGreaterThan(1_000);
    });

    it("has no steady state: it is ABORTED", async () => {
        breakApplication();
        await expect(begin()).rejects.toThrow(
            /^ABORTED \(no-steady-state\): there is no steady state: .* Nothing was done\. /,
        );
    });

    it("ends early if a check falls below its limit", async () => {
        run.plan.checks[0]!.abort = { below: 0.9, overMs: 1_000 };
        await begin();
        run.after(200, breakApplication);
        expect(await observe()).toMatchObject({
            verdict: "FAILED",
            reason: expect.stringMatching(/^aborted after .* without an attack in the last 1 s \(abort below 90%\)/),
        });
        expect(run.said.join("\n")).toContain("; ending the run");
    });

    it("is INCONCLUSIVE if its lease is gone: somebody has stopped it, or an update has undone it", async () => {
        run.plan.actions = [{ kind: "wait", durationMs: 1_000 }, scale];
        await begin();
        run.after(500, () => void releaseLease(run.cluster.api, { stack: "ours", plan: run.plan }));
        expect(await observe()).toMatchObject({
            verdict: "INCONCLUSIVE",
            code: "run-over",
            reason: expect.stringContaining("run 1 has already ended"),
        });
        expect(run.cluster.get("Deployment", "hot-deals").spec.replicas).toBe(2);
    });

    it("is INCONCLUSIVE if its Job loses what it needs to restore what was scaled", async () => {
        run.plan.actions = [scale];
        run.plan.window = { graceMs: 0, durationMs: 8_000 };
        await begin();
        run.after(500, () => run.cluster.remove("RoleBinding", jobNameOf(found().runName)));
        expect(await observe()).toMatchObject({
            verdict: "INCONCLUSIVE",
            code: "job-not-running",
            reason: expect.stringMatching(/^the RoleBinding .* is gone, .* seen \d+ s after the checks began, and/),
        });
    });

    it("is INCONCLUSIVE if somebody scales back what it has scaled, says who, and restores it", async () => {
        run.plan.actions = [{ ...scale, replicas: 5 }];
        await begin();
        const { metadata } = run.cluster.get("Deployment", "hot-deals");
        run.after(700, () => {
            const fields = { fieldsType: "FieldsV1", fieldsV1: { "f:spec": { "f:replicas": {} } } };
            const autoscaler = { manager: "kube-controller-manager", operation: "Update", subresource: "scale" };
            const managedFields = [
                { ...autoscaler, ...fields },
                { ...autoscaler, subresource: "status" },
            ];
            const { labels } = run.cluster.get("Deployment", "hot-deals").metadata;
            const spec = { replicas: 3 };
            run.cluster.add("Deployment", "hot-deals", { metadata: { ...metadata, labels, managedFields }, spec });
        });
        expect(await observe()).toMatchObject({
            verdict: "INCONCLUSIVE",
            code: "action-undone",
            reason: expect.stringMatching(
                /^the action "scale hot-deals to 5" did not last: .* after it, .* set by .* for an autoscaler\.$/,
            ),
        });
        await settled(recovery(run.context, {}));
        expect(run.cluster.get("Deployment", "hot-deals").spec.replicas).toBe(2);
    });

    it("is INCONCLUSIVE if it is not known at the end whether that is still there", async () => {
        run.plan.actions = [scale];
        await begin();
        run.after(1_500, () => {
            run.cluster.refuses("get Deployment", 500, "etcd is slow");
        });
        expect(await observe()).toMatchObject({ verdict: "INCONCLUSIVE", code: "api-server-unavailable" });
    });

    it("needs no more than its required rights", async () => {
        run.plan.actions = [scale];
        limit(run.cluster, permissionsOf([run.plan]).filter(isRequired));
        await begin();
        expect(await observe()).toMatchObject({ verdict: "PASSED" });
        await settled(recovery(run.context, {}));
        expect(run.cluster.get("Deployment", "hot-deals").spec.replicas).toBe(2);
    });
});

describe("a run that scales without an attack", () => {
    const given = () => ({ steadyState: found(), deadlineJob: job });
    const awaitJob = () => settled(labelTargets(run.context, given()));

    it("begins when the deadline Job runs, which restores what was scaled", async () => {
        run.plan.actions = [scale];
        await begin();
        expect(await awaitJob()).toEqual({ attacks: [], baselineMs: 0 });
    });

    it("does not begin if the Job does not start", async () => {
        run.plan.actions = [scale];
        await begin();
        run.cluster.get("Pod", job).status = { phase: "Pending" };
        await expect(awaitJob()).rejects.toThrow(/which must undo the run at its deadline, has no running pod/);
    });
});

describe("an action is refused before anything is touched", () => {
    const protects = { metadata: { labels: { "chaos-experiments/protected": "true" } } };
    const deployment = () => run.cluster.get("Deployment", "hot-deals");

    it.each<[string, Action, string, change?: () => unknown]>([
        ["of a workload that is missing", { kind: "rollout", deployment: "gone" }, "no Deployment gone"],
        [
            "of a StatefulSet that is missing",
            { kind: "rollout", statefulset: "database" },
            "cannot restart database: namespace demo has no StatefulSet database; its StatefulSets are: none",
        ],
        [
            "of a protected workload",
            scale,
            "cannot scale hot-deals to 3: it is labeled as protected",
            () => Object.assign(deployment().metadata, protects.metadata),
        ],
        [
            "in a protected namespace",
            rollout,
            "namespace demo is protected",
            () => run.cluster.add("Namespace", "demo", protects),
        ],
        [
            "of a paused Deployment",
            rollout,
            "cannot restart hot-deals: its rollout is paused",
            () => (deployment().spec.paused = true),
        ],
    ])("%s", async (_, action, reason, change) => {
        run.plan.actions = [action];
        change?.();
        await expect(begin()).rejects.toThrow(reason);
        expect(run.cluster.names("Lease")).toEqual([]);
        expect(run.cluster.calls.filter((call) => call.startsWith("patch"))).toEqual([]);
    });

    describe("if it changes an object that is no workload:", () => {
        const before = { ...scaleKind };
        const restores = { ...before.restores, resource: resources.configMap };
        beforeEach(() => {
            Object.assign(scaleKind, { workload: undefined, restores });
            run.plan.actions = [scale];
        });
        afterEach(() => void Object.assign(scaleKind, before));
        const add = (fields = {}) => run.cluster.add("ConfigMap", "hot-deals", fields);
        const isMissing = "cannot scale hot-deals to 3: namespace demo has no ConfigMap hot-deals";
        const isProtected = "cannot scale hot-deals to 3: it is labeled as protected";

        it.each<[string, string, change?: () => unknown]>([
            ["that is missing", isMissing],
            ["that is protected", isProtected, () => add(protects)],
            [
                "in a protected namespace",
                "namespace demo is protected",
                () => [add(), run.cluster.add("Namespace", "demo", protects)],
            ],
        ])("%s", async (_, reason, change) => {
            change?.();
            await expect(begin()).rejects.toThrow(reason);
            expect(run.cluster.calls.filter((call) => call.startsWith("patch"))).toEqual([]);
        });

        it("it is done to another", async () => {
            add();
            expect(await begin()).toHaveProperty("runName");
        });
    });

    it("with all others", async () => {
        run.plan.actions = [
            { kind: "rollout", deployment: "one" },
            { kind: "scale", deployment: "two", replicas: 1 },
        ];
        await expect(begin()).rejects.toThrow(/cannot restart one: .*; .*cannot scale two to 1: /);
    });
});
