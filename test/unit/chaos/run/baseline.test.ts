import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Answer } from "../../../../chaos/kinds/checks/answer";
import { http } from "../../../../chaos/kinds/checks/http";
import { otherResources } from "../../../../chaos/cluster/resources";
import { leaseName, leasePreparationMs } from "../../../../chaos/lease/lease-record";
import { check } from "../../../../chaos/run/check";
import { nothingAttacked } from "../../../../chaos/run/contract";
import { steadyState } from "../../../../chaos/run/steady-state";
import { keptJournals } from "../../../support/kept-journals";
import { FakeRun } from "../support/fake-run";
import { settled } from "../support/time";

let run: FakeRun;
/** How long the application takes for a request that is sent so many milliseconds after the run's begin. */
let latencyAt: (ms: number) => number | "bad" | "unseen";

beforeEach(() => {
    run = new FakeRun();
    run.plan.attacks = [];
    run.plan.window = { graceMs: 0, durationMs: 4_000 };
    run.plan.baseline = { durationMs: 4_000 };
    run.plan.checks = [
        {
            name: "/",
            check: { kind: "http", path: "/", url: "http://127.0.0.1:1" },
            intervalMs: 20,
            timeoutMs: 1_000,
            successRate: 0.5,
            limits: [{ of: "p95", atMostTimes: 2 }],
        },
    ];
    const begunAt = Date.now();
    vi.spyOn(http, "probe").mockImplementation((): Promise<Answer> => {
        const at = Date.now();
        const latency = latencyAt(at - begunAt);
        return Promise.resolve(
            typeof latency === "number"
                ? { at, latencyMs: latency, good: true, status: 200 }
                : {
                      at,
                      latencyMs: 5,
                      good: false,
                      problem: "status 500",
                      ...(latency === "unseen" && { unseen: true }),
                  },
        );
    });
    latencyAt = (ms) => 20 + ((ms * 7) % 11);
});
afterEach(() => run.close());

const step = () => settled(steadyState(run.context, {}));
const journal = () => keptJournals(run.plan.reports)[0]!;

describe("before the attack", () => {
    it("checks that are compared are measured at their interval, for the baseline's time", async () => {
        const { baseline } = await step();
        expect(baseline).toMatchObject([{ name: "/", outcomes: Array(200).fill(expect.any(Number)) }]);
        expect(run.said).toContain("Measuring / before the checks for 4 s");
    });

    it("nothing is measured if nothing is compared, and the run is as short as without", async () => {
        delete run.plan.baseline;
        delete run.plan.checks[0]!.limits;
        const begun = Date.now();
        expect(await step()).not.toHaveProperty("baseline");
        expect(Date.now() - begun).toBeLessThan(1_000);
    });

    it("the lease lasts as much longer, so nobody else may begin meanwhile", async () => {
        await step();
        const { spec } = (await run.cluster.api.get({
            resource: otherResources.lease,
            namespace: "demo",
            name: leaseName,
        }))!;
        expect(spec!.leaseDurationSeconds).toBe((run.plan.deadlineMs + leasePreparationMs + 4_000) / 1_000);
    });

    it("a baseline whose slow answers lie unevenly ends the run, with what may be enough", async () => {
        latencyAt = (ms) => (ms > 2_000 && ms < 2_320 ? 900 : 20);
        await expect(step()).rejects.toThrow(
            new RegExp(
                "^ABORTED \\(baseline-unsteady\\): / cannot be compared with before the attack: the slowest 5% of " +
                    "200 answers lie unevenly in the baseline, which counts as 10 independent answers for its " +
                    "p95 \\(required: 72\\)\\. Nothing was done\\. Measure longer: a baseline of 58s may be enough",
            ),
        );
        expect(run.cluster.names("Lease")).toEqual([]);
    });

    it("so does one that is too fast to be compared by a factor, and says to set a time", async () => {
        latencyAt = () => 0;
        await expect(step()).rejects.toThrow(
            /too many of 200 answers took less than 1 ms, .* by a factor\. Nothing was done\. Limit it by a time/,
        );
    });

    it("and says so if no allowed baseline would be", async () => {
        latencyAt = (ms) => (ms > 2_000 && ms < 2_320 ? 900 : 20);
        // Only as many answers as a run may have pass through its steps.
        run.plan.checks = Array.from({ length: 20 }, (_, index) => ({ ...run.plan.checks[0]!, name: `/${index}` }));
        await expect(step()).rejects.toThrow("if it goes on like this, no baseline may be enough (at most 10s)");
    });

    it("so does one in which a check does not hold: there is no steady state", async () => {
        latencyAt = (ms) => (ms > 200 && ms % 40 < 20 ? "bad" : 20);
        run.plan.checks[0]!.successRate = 0.9;
        await expect(step()).rejects.toThrow(/^ABORTED \(no-steady-state\): .*% of 200 probes of \/ succeeded before/);
    });
});

describe("before the attack, a check whose drop alone is limited", () => {
    beforeEach(() => {
        run.plan.checks[0]!.limits = [{ of: "successRate", atMostLess: 0.1 }];
        delete run.plan.checks[0]!.successRate;
    });

    it("ends the run if all its answers are bad: none could be lost", async () => {
        latencyAt = (ms) => (ms > 200 ? "bad" : 20);
        await expect(step()).rejects.toThrow(
            new RegExp(
                "^ABORTED \\(baseline-unsteady\\): .*: \\d+ of 200 answers were bad or unseen, too many to show a " +
                    "drop of more than 10%\\. Nothing was done\\. Repair the application first",
            ),
        );
    });

    it("ends the run if none reaches the application", async () => {
        latencyAt = (ms) => (ms > 200 ? "unseen" : 20);
        await expect(step()).rejects.toThrow(/Find out why they do not reach the application/);
    });
});

describe("the verdict of a check that is compared", () => {
    const verdict = async () => {
        const steady = await step();
        return settled(check(run.context, { steadyState: steady, ...nothingAttacked }));
    };

    it("is PASSED without a change, and the journal has the answers before", async () => {
        expect(await verdict()).toMatchObject({
            verdict: "PASSED",
            checks: [{ changes: [{ of: "p95", isWithin: true }] }],
        });
        expect(journal().baseline).toMatchObject([{ name: "/", outcomes: Array(200).fill(expect.any(Number)) }]);
    });

    it("is FAILED if it becomes as much slower", async () => {
        latencyAt = (ms) => (ms > 4_500 ? 100 : 20) + ((ms * 7) % 11);
        expect(await verdict()).toMatchObject({
            verdict: "FAILED",
            reason: expect.stringMatching(
                /p95 30 ms before, 110 ms in the window: 3\.7x \(95% confidence: at least 3\.\dx; /,
            ),
        });
    });

    it("is INCONCLUSIVE with its own reason if the answers leave it open", async () => {
        latencyAt = (ms) => (ms > 4_500 ? 50 : 20) + ((ms * 7) % 11);
        expect(await verdict()).toMatchObject({ verdict: "INCONCLUSIVE", code: "limit-undecided" });
    });
});
