import { mkdirSync, rmSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { endRuns } from "../../../../chaos/ending/end-run";
import { runNameOf } from "../../../../chaos/definition/plan";
import { acquireLease, moveOwn, noteAborted } from "../../../../chaos/lease/lease";
import { leaseMoves, leaseName } from "../../../../chaos/lease/lease-record";
import { keptJournals } from "../../../support/kept-journals";
import { check } from "../../../../chaos/run/check";
import { recovery, undo } from "../../../../chaos/run/recovery";
import { attackObject, FakeRun, job, pass } from "../support/fake-run";
import { settled } from "../support/time";
import { inOrder } from "../../../support/in-order";

let run: FakeRun;
beforeEach(() => {
    run = new FakeRun();
});
afterEach(() => run.close());

/** Begins the run's attack. */
async function attack(): Promise<void> {
    await run.label();
    await acquireLease(run.cluster.api, { stack: "ours", plan: run.plan });
    await moveOwn(run.cluster.api, run.context, () => leaseMoves.begun);
}

const owner = { stack: "ours", defaultNamespace: "demo" };
const step = () => settled(recovery(run.context, {}));
const breakApplication = () => ["hot-deals-1", "hot-deals-2"].forEach((pod) => run.setReady(pod, false));
const notRecovered = "pods did not recover within 1 min";
const labels = () => run.cluster.get("Pod", "hot-deals-1").metadata.labels;

describe("recovery", () => {
    beforeEach(attack);

    it("removes what is left, releases the lease, and waits until every check is steady", async () => {
        breakApplication();
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

    const beginsAgain = () => acquireLease(run.cluster.api, { stack: "ours", plan: run.plan });
    const aborted = { code: "no-tool", message: "a has no tool" } as const;

    it.each<[string, () => Promise<unknown>]>([
        ["that was ABORTED", () => noteAborted(run.cluster.api, run.context, aborted)],
        ["whose attack had not begun", beginsAgain],
        ["that an update has ended before it began", () => beginsAgain().then(() => endRuns(run.cluster.api, owner))],
    ])("of a run %s waits for nothing, and releases the lease", async (_, before) => {
        await before();
        breakApplication();
        const begun = Date.now();
        expect(await step()).toEqual({ recoveredAfterMs: null });
        expect(Date.now() - begun).toBeLessThan(1_000);
        expect([run.cluster.names("Lease"), labels()]).toEqual([[], {}]);
    });

    it("waits if another run of the stack was ABORTED: this one has attacked", async () => {
        const plan = { ...run.plan, run: "2" };
        await noteAborted(run.cluster.api, { ...run.context, plan }, aborted);
        expect(await step()).not.toEqual({ recoveredAfterMs: null });
    });

    it("fails after a minute if a check is not steady, says what to look at, and tells that once", async () => {
        breakApplication();
        await expect(step()).rejects.toThrow(
            inOrder(notRecovered, ": pods: 0 ready (required: at least 1). Nothing of it is left"),
        );
        expect(labels()).toEqual({});
        // At the next try nothing is left, and the application may be gone for good.
        expect(await step()).toEqual({ recoveredAfterMs: null });
        expect(run.said.at(-1)).toContain(notRecovered);
    });

    it("fails once, too, after somebody has stopped the run: they have deleted its lease", async () => {
        run.cluster.remove("Lease", leaseName);
        breakApplication();
        await expect(step()).rejects.toThrow(notRecovered);
        expect(await step()).toEqual({ recoveredAfterMs: null });
        expect(run.cluster.names("Lease")).toEqual([]);
    });

    it("fails at the next try if it was killed while it waited", async () => {
        breakApplication();
        const killed = recovery(run.context, {}).catch(() => undefined);
        await vi.advanceTimersByTimeAsync(10_000);
        expect(run.cluster.names("Lease")).toEqual([]);
        await expect(step()).rejects.toThrow(notRecovered);
        await settled(killed);
    });

    it("that has failed keeps nobody from the namespace", async () => {
        breakApplication();
        await expect(step()).rejects.toThrow(notRecovered);
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

    const gone = "The application is gone, so nothing can recover";
    const ask = (namespace?: string) => {
        const check = { kind: "http", path: "/", service: "orders", namespace } as const;
        run.plan.checks = [{ ...run.plan.checks[0]!, name: "orders", check }];
    };
    const isDeleting = () => {
        run.cluster.get("Namespace", "demo").metadata.deletionTimestamp = new Date().toISOString();
        breakApplication();
    };

    it.each<[string, () => void]>([
        ["the application is gone", () => run.cluster.remove("Namespace", "demo")],
        ["no Service is left that a check asks", () => ask("shop")],
        ["the namespace is being deleted", isDeleting],
    ])("waits for nothing if %s", async (_, change) => {
        change();
        expect(await step()).toEqual({ recoveredAfterMs: null });
        expect(run.said.at(-1)).toBe(gone);
    });

    it("stops waiting if the application is deleted meanwhile, as by `pulumi destroy` of both", async () => {
        ask();
        run.cluster.add("Service", "orders", { spec: { ports: [{ port: 80 }] } });
        run.after(10_000, () => run.cluster.remove("Service", "orders"));
        const begun = Date.now();
        expect(await step()).toEqual({ recoveredAfterMs: null });
        expect(Date.now() - begun).toBeLessThan(20_000);
        expect(run.said.at(-1)).toBe(gone);
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
    beforeEach(attack);

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

describe("undoing", () => {
    const undone = () => settled(undo(run.context));

    it("recovery is counted from the undoing, and is not negative if the clock is set back", async () => {
        for (const pod of ["hot-deals-1", "hot-deals-2"]) run.setReady(pod, false);
        run.after(1_000, () => vi.setSystemTime(Date.now() - 60_000));
        run.after(2_000, () => run.setReady("hot-deals-1", true));
        const begun = Date.now();
        const { at, recoveredAfterMs } = await undone();
        expect(at).toBe(begun);
        expect(recoveredAfterMs).toBeGreaterThanOrEqual(2_000);
        expect(recoveredAfterMs).toBeLessThan(3_000);
    });

    it("without the plan's Service, the application counts as gone", async () => {
        run.plan.service = { namespace: "demo", name: "gateway", port: 80 };
        expect((await undone()).recoveredAfterMs).toBeNull();
        run.cluster.add("Service", "gateway");
        expect((await undone()).recoveredAfterMs).not.toBeNull();
    });

    it("nothing is changed, and the checks are awaited, if nothing is left", async () => {
        expect((await undone()).recoveredAfterMs).not.toBeNull();
        expect(run.cluster.calls.filter((call) => !/^(list|get)/.test(call))).toEqual([]);
        expect(run.said).toEqual([]);
    });

    it("while another stack attacks the namespace, only the policies go that the run's steps have made", async () => {
        const own = `${runNameOf(run.plan, "ours")}-admit-witness-1`;
        for (const name of [own, "theirs-blackhole"])
            run.cluster.add("NetworkPolicy", name, { metadata: { labels: {} } });
        await acquireLease(run.cluster.api, { stack: "theirs", plan: run.plan });
        await undone();
        expect(run.cluster.names("NetworkPolicy")).toEqual(["theirs-blackhole"]);
    });
});
