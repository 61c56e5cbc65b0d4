import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { labelTargets } from "../../../../chaos/run/label-targets";
import { runPage } from "../../../../chaos/report/run-page";
import { permissionsOf } from "../../../../chaos/rights/permissions";
import { steadyState } from "../../../../chaos/run/steady-state";
import { keptJournals } from "../../../support/kept-journals";
import { FakeRun, job, pass } from "../support/fake-run";
import { untilBegin } from "../../../../chaos/run/until-begin";
import { settled, startClock } from "../support/time";

let run: FakeRun;
beforeEach(() => {
    run = new FakeRun();
    const check = { kind: "podsReady", of: "k8s.deployment=hot-deals", atLeast: 2 } as const;
    run.plan.begin = { when: { ...run.plan.checks[0]!, name: "two pods", check }, withinMs: 60_000 };
});
afterEach(() => run.close());

const step = () => settled(steadyState(run.context, {}));
const journal = () => keptJournals(run.plan.reports)[0]!;
const howItBegan = () => /holds, within 1m; (.*?)<\/td>/.exec(runPage(journal()))?.[1];
const leases = () => run.cluster.names("Lease");

it("begins at once if it holds", async () => {
    expect(await step()).toMatchObject({ waitedMs: 0 });
    expect(run.said.slice(0, 2)).toEqual([
        "Waiting until two pods holds, for at most 1m",
        "two pods holds after 0 ms: the run begins",
    ]);
});

it("begins as soon as it holds, and takes no lease before that", async () => {
    run.setReady("hot-deals-1", false);
    let held: string[] | undefined;
    run.after(39_000, () => (held = leases()));
    run.after(40_000, () => run.setReady("hot-deals-1", true));
    const { waitedMs } = await step();
    expect(held).toEqual([]);
    expect(waitedMs).toBeGreaterThanOrEqual(40_000);
    expect(waitedMs).toBeLessThan(40_500);
    expect(run.said).toContainEqual(expect.stringMatching(/^Still waiting for two pods \(30 s\): 1 ready/));
});

it("is ABORTED if it does not hold in time, and leaves nothing but its journal", async () => {
    run.setReady("hot-deals-1", false);
    await expect(step()).rejects.toThrow(
        /^ABORTED \(begin-not-met\): two pods did not hold within 1m: 1 ready .*\. Nothing was attacked\. Bring/,
    );
    expect(leases()).toEqual([]);
    expect(journal()).toMatchObject({ conclusion: { verdict: "ABORTED", code: "begin-not-met" } });
    expect(howItBegan()).toBe("did not hold in time");
});

it("waits for a slow answer no longer than for what begins the run", async () => {
    const server = createServer((_, answer) => setTimeout(() => answer.end(), 3_000));
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close().closeAllConnections());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const check = { kind: "http", url, path: "/" } as const;
    run.plan.begin = { when: { ...run.plan.checks[0]!, name: "slow", check, timeoutMs: 60_000 }, withinMs: 300 };
    startClock();
    await expect(untilBegin(run.context)).rejects.toMatchObject({
        reason: { code: "begin-not-met", message: "slow did not hold within 300ms: no answer within 300 ms" },
    });
});

it("says what was wrong when an answer had its time, not that a last one had too little", async () => {
    run.setReady("hot-deals-1", false);
    run.plan.begin!.withinMs = 60_100;
    run.after(60_000, () => (run.cluster.api.all = () => new Promise(() => undefined)));
    await expect(step()).rejects.toThrow("did not hold within 60100ms: 1 ready");
});

it.each([
    [undefined, "then: pulumi up"],
    ["npm run experiment -- hot-deals-blackhole", "then: npm run experiment -- hot-deals-blackhole"],
])("names the command that does the run again: %s", async (command, words) => {
    run.plan.command = command;
    run.setReady("hot-deals-1", false);
    await expect(step()).rejects.toThrow(words);
});

describe("a run that is ABORTED for something else", () => {
    it("says that what begins it held", async () => {
        run.plan.checks = [
            { ...run.plan.checks[0]!, check: { kind: "podsReady", of: "k8s.deployment=none", atLeast: 1 } },
        ];
        await expect(step()).rejects.toThrow(/^ABORTED \(no-steady-state\)/);
        expect(journal()).toMatchObject({ waitedMs: 0 });
        expect(howItBegan()).toBe("held after 0 ms");
    });

    it("says so when the targets are labelled, too", async () => {
        const { waitedMs } = await step();
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.cluster.remove("Pod", pod);
        const steadyState = { latencyMs: 5, runName: "run", pass, checks: [], waitedMs };
        const labelled = settled(labelTargets(run.context, { steadyState, deadlineJob: job }));
        await expect(labelled).rejects.toThrow(/^ABORTED/);
        expect(howItBegan()).toBe("held after 0 ms");
    });

    it("says that it ended before that, if it lacks a right", async () => {
        [run.cluster.rules, run.cluster.access] = [[], () => ({ allowed: false })];
        await expect(step()).rejects.toThrow(/^ABORTED \(missing-right\)/);
        expect(howItBegan()).toBe("the run ended before that");
    });
});

it("the rights of the check that it waits for are those of the run, too", () => {
    const of = { apiVersion: "queues.example.com/v1", kind: "Queue", name: "orders" };
    run.plan.begin!.when.check = { kind: "condition", of, field: "status.length", atLeast: 100 };
    expect(permissionsOf([run.plan])).toContainEqual(
        expect.objectContaining({
            apiGroup: "queues.example.com",
            resource: "queues",
            verbs: ["get"],
            names: ["orders"],
        }),
    );
});
