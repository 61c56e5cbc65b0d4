import { mkdirSync, rmSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { endRuns } from "../../../../chaos/ending/end-run";
import { acquireLease, moveOwn, noteAborted } from "../../../../chaos/lease/lease";
import { leaseMoves, leaseName } from "../../../../chaos/lease/lease-record";
import { keptJournals } from "../../../support/kept-journals";
import { check } from "../../../../chaos/run/check";
import { recovery } from "../../../../chaos/run/recovery";
import { attackObject, FakeRun, job, pass } from "../support/fake-run";
import { settled } from "../support/time";
import { inOrder } from "../../../support/in-order";

let run: FakeRun;
beforeEach(async () => {
    run = new FakeRun();
    await run.label();
    await acquireLease(run.cluster.api, { stack: "ours", plan: run.plan });
    await moveOwn(run.cluster.api, run.context, () => leaseMoves.begun);
});
afterEach(() => run.close());

const owner = { stack: "ours", defaultNamespace: "demo" };
const step = () => settled(recovery(run.context, {}));
const labels = () => run.cluster.get("Pod", "hot-deals-1").metadata.labels;

describe("recovery", () => {
    it("removes what is left, releases the lease, and waits until every check is steady", async () => {
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.setReady(pod, false);
        run.after(5_000, () => run.setReady("hot-deals-2", true));
        const { recoveredAfterMs } = await step();
        expect(recoveredAfterMs).toBeGreaterThanOrEqual(5_000);
        expect(recoveredAfterMs).toBeLessThan(6_000);
        expect(labels()).toEqual({});
        expect(run.cluster.names("Lease")).toEqual([]);
        expect(run.said).toEqual([
            "Removed what was left of the attack: 1 object",
            expect.stringMatching(/^Recovered: pods succeeded again 5\.\d s after the attack was undone$/),
        ]);
    });

    it("of a run that was ABORTED waits for nothing, and releases the lease: nothing was attacked", async () => {
        await noteAborted(run.cluster.api, run.context, { code: "no-tool", message: "a has no tool" });
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.setReady(pod, false);
        const begun = Date.now();
        expect(await step()).toEqual({ recoveredAfterMs: null });
        expect(Date.now() - begun).toBeLessThan(1_000);
        expect([run.cluster.names("Lease"), labels()]).toEqual([[], {}]);
    });

    it.each([
        ["whose attack had not begun", () => undefined],
        ["that an update has ended before its attack began", () => endRuns(run.cluster.api, owner)],
    ])("of a run %s waits for nothing, and releases the lease", async (_, before) => {
        await acquireLease(run.cluster.api, { stack: "ours", plan: run.plan });
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.setReady(pod, false);
        await before();
        const begun = Date.now();
        expect(await step()).toEqual({ recoveredAfterMs: null });
        expect(Date.now() - begun).toBeLessThan(1_000);
        expect([run.cluster.names("Lease"), labels()]).toEqual([[], {}]);
    });

    it("waits if another run of the stack was ABORTED: this one has attacked", async () => {
        const plan = { ...run.plan, run: "2" };
        await noteAborted(run.cluster.api, { ...run.context, plan }, { code: "no-tool", message: "a has no tool" });
        expect(await step()).not.toEqual({ recoveredAfterMs: null });
    });

    it("fails after a minute if a check is not steady, and says what to look at", async () => {
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.setReady(pod, false);
        await expect(step()).rejects.toThrow(
            inOrder(
                /^pods did not recover within 1 min /,
                ": pods: 0 ready (required: at least 1). Nothing of it is left",
            ),
        );
        expect(labels()).toEqual({});
    });

    it("tells that once: at the next try nothing is left, and the application may be gone for good", async () => {
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.setReady(pod, false);
        await expect(step()).rejects.toThrow("pods did not recover within 1 min");
        expect(await step()).toEqual({ recoveredAfterMs: null });
        expect(run.said.at(-1)).toContain("pods did not recover within 1 min");
    });

    it("fails once, too, after somebody has stopped the run: they have deleted its lease", async () => {
        run.cluster.remove("Lease", leaseName);
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.setReady(pod, false);
        await expect(step()).rejects.toThrow("pods did not recover within 1 min");
        expect(await step()).toEqual({ recoveredAfterMs: null });
        expect(run.cluster.names("Lease")).toEqual([]);
    });

    it("fails at the next try if it was killed while it waited", async () => {
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.setReady(pod, false);
        const killed = recovery(run.context, {}).catch(() => undefined);
        await vi.advanceTimersByTimeAsync(10_000);
        expect(run.cluster.names("Lease")).toEqual([]);
        await expect(step()).rejects.toThrow("pods did not recover within 1 min");
        await settled(killed);
    });

    it("that has failed keeps nobody from the namespace", async () => {
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.setReady(pod, false);
        await expect(step()).rejects.toThrow("pods did not recover within 1 min");
        await acquireLease(run.cluster.api, { stack: "theirs", plan: run.plan });
        expect((await step()).recoveredAfterMs).toBeNull();
        expect(run.cluster.get("Lease", leaseName).spec.holderIdentity).toMatch(/^stack theirs /);
    });

    it("does not fail if no check sees the application, such as a program that is missing elsewhere", async () => {
        const check = { kind: "command" as const, command: ["./not-there.sh"] };
        run.plan.checks = [{ ...run.plan.checks[0]!, name: "program", check }];
        expect(await step()).toEqual({ recoveredAfterMs: null });
        expect(run.said.at(-1)).toMatch(
            /^Nothing is left of the attack\. .*whether program recovered: .*not-there\.sh/,
        );
        // It starts the program again and again for a minute of the test's clock.
    }, 60_000);

    it("waits for nothing if the application is gone", async () => {
        run.cluster.remove("Namespace", "demo");
        expect(await step()).toEqual({ recoveredAfterMs: null });
        expect(run.said.at(-1)).toBe("The application is gone, so nothing can recover");
    });

    it("waits for nothing if no Service is left that a check asks", async () => {
        const check = { kind: "http", path: "/", service: "orders", namespace: "shop" } as const;
        run.plan.checks = [{ ...run.plan.checks[0]!, name: "orders", check }];
        expect(await step()).toEqual({ recoveredAfterMs: null });
    });

    it("stops waiting if the application is deleted meanwhile, as by `pulumi destroy` of both", async () => {
        const check = { kind: "http", path: "/", service: "orders" } as const;
        run.plan.checks = [{ ...run.plan.checks[0]!, name: "orders", check }];
        run.cluster.add("Service", "orders", { spec: { ports: [{ port: 80 }] } });
        run.after(10_000, () => run.cluster.remove("Service", "orders"));
        const begun = Date.now();
        expect(await step()).toEqual({ recoveredAfterMs: null });
        expect(Date.now() - begun).toBeLessThan(20_000);
        expect(run.said.at(-1)).toBe("The application is gone, so nothing can recover");
    });

    it("waits for nothing if the namespace is being deleted", async () => {
        run.cluster.get("Namespace", "demo").metadata.deletionTimestamp = new Date().toISOString();
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.setReady(pod, false);
        expect(await step()).toEqual({ recoveredAfterMs: null });
    });

    it("leaves an experiment alone that another stack has begun since", async () => {
        run.cluster.remove("Lease", leaseName);
        await acquireLease(run.cluster.api, { stack: "theirs", plan: run.plan });
        await step();
        expect(labels()).toHaveProperty(["chaos-experiments/target"]);
        expect(run.cluster.names("Lease")).toEqual([leaseName]);
        expect(run.said[0]).toMatch(/^stack theirs/);
    });
});

describe("the report of the run", () => {
    const journal = () => keptJournals(run.plan.reports)[0]!;
    const before = [{ name: "pods", answers: [{ at: 1, latencyMs: 2, good: true }] }];
    beforeEach(async () => {
        run.attack();
        const targets = {
            attacks: [{ name: "blackhole", matching: 2, targets: [run.target()] }],
            baselineMs: 30,
        };
        const given = {
            steadyState: { latencyMs: 5, runName: "run", pass, checks: before },
            targets,
            deadlineJob: job,
            attackObjects: [attackObject],
        };
        await settled(check(run.context, given));
        run.cluster.remove("NetworkPolicy", attackObject);
    });

    it("is completed with the recovery, once", async () => {
        await step();
        const first = journal().recovery;
        expect(first!.undoneAt).toBeGreaterThan(journal().endedAt - 1);
        expect(journal().before).toEqual(before);
        expect(first!.checks!.map(({ answers }) => answers.length)).toEqual([3]);
        await step();
        expect(journal().recovery).toEqual(first);
    });

    it("leaves out what somebody has written into the lease instead of answers", async () => {
        const ended = { at: 1, recoveredAfterMs: 2, checks: [{ name: "pods" }] };
        const { metadata } = run.cluster.get("Lease", leaseName);
        metadata.annotations = { ...metadata.annotations, "chaos-experiments/ended": JSON.stringify(ended) };
        await step();
        expect(journal().recovery).toEqual({ undoneAt: 1, recoveredAfterMs: 2 });
    });

    it("may be missing", async () => {
        rmSync(journal().conclusion.journal);
        expect(await step()).toHaveProperty("recoveredAfterMs");
    });

    it("may be impossible to write: everything is still undone", async () => {
        const picture = journal().conclusion.journal.replace(/json$/, "svg");
        rmSync(picture);
        mkdirSync(picture);
        expect(await step()).toHaveProperty("recoveredAfterMs");
        expect(run.said).toContainEqual(expect.stringMatching(/^The run's report could not be completed: EISDIR/));
        expect(run.cluster.names("Lease")).toEqual([]);
    });
});
