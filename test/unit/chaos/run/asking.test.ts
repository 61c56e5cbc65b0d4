/** The checks are asked while the attack is being proven, by tries that take a second. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { podsReady } from "../../../../chaos/kinds/checks/pods-ready";
import type { Plan } from "../../../../chaos/definition/plan";
import type { Conclusion } from "../../../../chaos/report/conclusion";
import { isAskedEarly } from "../../../../chaos/run/asking";
import { check } from "../../../../chaos/run/check";
import { keptJournals } from "../../../support/kept-journals";
import { attackObject, FakeRun, job, pass } from "../support/fake-run";
import { settled } from "../support/time";

let run: FakeRun;
/** When the attack takes effect, in milliseconds of `performance.now()`. */
let cutAt: number;
beforeEach(async () => {
    run = new FakeRun();
    await run.label();
    run.attack();
    run.tryMs = 1_000;
    run.plan.window = { graceMs: 1_000, durationMs: 9_000 };
    cutAfter(0);
});
afterEach(() => run.close());

let cutting: NodeJS.Timeout | undefined;
function cutAfter(ms: number): void {
    run.enforced = false;
    cutAt = performance.now() + ms;
    clearTimeout(cutting);
    cutting = setTimeout(() => (run.enforced = true), ms);
}

const chosen = (name: string, pod: string) => ({ name, matching: 2, targets: [run.target(pod)], chosenBy: "7b1e" });

/** Runs the check on the attacked pod. */
function step(answersFile?: string, attacks = [chosen("blackhole", "hot-deals-1")]): Promise<Conclusion> {
    const targets = { attacks, baselineMs: 30, isPoliced: false, policies: [] };
    const steadyState = { latencyMs: 5, runName: "run", pass, checks: [] };
    return settled(check({ ...run.context, answersFile }, { steadyState, targets, deadlineJob: job }));
}
const journal = () => keptJournals(run.plan.reports)[0]!;

it("the window begins with the try that shows the attack, and has as many answers as ever", async () => {
    cutAfter(500);
    const begun = performance.now();
    const begunAt = Date.now();
    expect(await step()).toMatchObject({ verdict: "PASSED", requests: 40, reason: expect.stringMatching(/ of 36 /) });
    const { attackedAt, checks } = journal();
    expect(attackedAt! - begunAt).toBeGreaterThanOrEqual(cutAt - begun);
    expect(attackedAt! - begunAt).toBeLessThan(1_000);
    expect(performance.now() - begun).toBeLessThan(1_000 + 10_000 + 500);
    for (const { at } of checks[0]!.answers) expect(at).toBeGreaterThanOrEqual(attackedAt!);
});

it.each<[string, Partial<Plan>, number]>([
    ["an action follows", { actions: [{ kind: "wait", durationMs: 100 }] }, 36],
    ["an interval does not divide it", { window: { graceMs: 1_000, durationMs: 9_100 } }, 37],
    ["an interval does not divide its grace period", { window: { graceMs: 1_100, durationMs: 8_900 } }, 35],
    ["it is shorter than 10 s", { window: { graceMs: 1_000, durationMs: 8_750 } }, 35],
])("the window begins once the attack is proven if %s", async (_, more, counted) => {
    Object.assign(run.plan, more);
    const begunAt = Date.now();
    const { verdict, reason } = await step();
    expect([verdict, reason]).toEqual(["PASSED", expect.stringContaining(` of ${counted} checks`)]);
    const { attackedAt, checks } = journal();
    expect(checks[0]!.answers[0]!.at - begunAt).toBeGreaterThanOrEqual(1_000);
    expect(attackedAt! - begunAt).toBeGreaterThanOrEqual(1_000);
});

describe("checks are asked early", () => {
    const asked = (change: (plan: Plan) => void) => {
        const plan = structuredClone(run.plan);
        change(plan);
        return isAskedEarly(plan);
    };
    const attacking = (attack: Plan["attacks"][number]["attack"]) => (plan: Plan) => {
        plan.attacks[0]!.attack = attack;
    };
    it("if there is one attack, a policy that keeps the witness from its targets", () =>
        expect(asked(() => undefined)).toBe(true));

    it.each<[string, (plan: Plan) => void]>([
        ["a second attack", ({ attacks }) => attacks.push(attacks[0]!)],
        ["no attack", ({ attacks }) => attacks.splice(0)],
        ["a fault, which counts requests", attacking({ kind: "fault", service: "hot-deals", delay: "1s" })],
        ["an attack that is only tried from within", attacking({ kind: "dns" })],
        ["one of connections out of its targets", attacking({ kind: "blackhole", direction: "egress" })],
    ])("and not with %s", (_, change) => expect(asked(change)).toBe(false));
});

it.each([-900, 900])("a clock that is set by %d ms before the proof changes none of that", async (shiftMs) => {
    run.plan.window = { graceMs: 0, durationMs: 10_000 };
    cutAfter(1_000);
    run.after(1_050, () => vi.setSystemTime(Date.now() + shiftMs));
    const sent: number[] = [];
    const probe = podsReady.probe.bind(podsReady);
    vi.spyOn(podsReady, "probe").mockImplementation((...args) => (sent.push(performance.now()), probe(...args)));
    expect(await step()).toMatchObject({ verdict: "PASSED", requests: 40 });
    const counted = sent.filter((at) => at >= cutAt);
    expect(counted.length).toBeGreaterThanOrEqual(40);
    const { attackedAt, checks } = journal();
    const zeroAt = Date.now() - performance.now();
    expect(attackedAt! - zeroAt).toBeGreaterThanOrEqual(cutAt);
    expect(checks[0]!.answers.at(-1)!.at - attackedAt!).toBeLessThan(10_000);
    expect(sent.at(-1)! - (attackedAt! - zeroAt)).toBeLessThan(10_000);
});

it("an abort rule waits for no probe that hangs since before the attack", async () => {
    cutAfter(1_000);
    Object.assign(run.plan.checks[0]!, { timeoutMs: 30_000, abort: { below: 0.9, overMs: 1_000 } });
    vi.spyOn(podsReady, "probe").mockImplementation(async () => {
        const at = Date.now();
        const beforeMs = cutAt - performance.now();
        if (beforeMs > 0 && beforeMs < 300) await new Promise((resolve) => setTimeout(resolve, 30_000));
        return { at, latencyMs: 5, good: beforeMs > 0, problem: "status 503" };
    });
    let goneAt = NaN;
    const watching = setInterval(() => {
        if (Number.isNaN(goneAt) && !run.cluster.names("NetworkPolicy").includes(attackObject))
            goneAt = performance.now();
    }, 50);
    await step().finally(() => clearInterval(watching));
    expect(journal().aborted).toBeDefined();
    expect(goneAt - cutAt).toBeLessThan(5_000);
});

it("the answers file has those of the window alone, in the order of asking", async () => {
    const file = join(run.plan.reports, "answers");
    const { requests } = await step(file);
    const answers = readFileSync(file, "utf8").trim().split("\n");
    expect(answers).toHaveLength(requests);
    expect(answers.map((line) => JSON.parse(line) as object)).toMatchObject(journal().checks[0]!.answers);
});

it("nothing more is asked if the attack is not proven", async () => {
    run.enforced = false;
    cutAt = NaN;
    const probed = vi.spyOn(podsReady, "probe");
    vi.clearAllTimers();
    setInterval(() => run.report({ at: Date.now(), open: ["10.0.0.1:8080"], closed: [] }), 250);
    expect(await step()).toMatchObject({ verdict: "INCONCLUSIVE", code: "attack-not-proven" });
    const before = probed.mock.calls.length;
    expect(before).toBeGreaterThan(10);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(probed.mock.calls.length).toBe(before);
});

it.each([false, true])("attacks may be proven long after each other, also with an action: %s", async (acts) => {
    const second = await attackDnsToo(12_000);
    if (acts) run.plan.actions = [{ kind: "wait", durationMs: 100 }];
    expect(await step(undefined, second)).toMatchObject({ verdict: "PASSED" });
});

it("a clock that is set back between two proofs makes no window longer", async () => {
    const second = await attackDnsToo(4_000);
    run.after(2_000, () => vi.setSystemTime(Date.now() - 60_000));
    const begun = performance.now();
    expect(await step(undefined, second)).toMatchObject({ verdict: "INCONCLUSIVE", code: "clock-shift" });
    expect(performance.now() - begun).toBeLessThan(4_000 + 10_000 + 2_000);
});

/** Adds an attack on the second pod, which takes effect later. */
async function attackDnsToo(afterMs: number) {
    run.tryMs = 0;
    const [blackhole] = run.plan.attacks;
    run.plan.attacks.push({ ...blackhole!, name: "dns", attack: { kind: "dns" } });
    await run.label("hot-deals-2", "hot-deals-blackhole.dns");
    const lostAt = performance.now() + afterMs;
    run.reachable = ["10.0.0.2"];
    // Targets of dns lose lookups alone.
    run.probe = (pod, args) => pod === "hot-deals-2" && (args.length > 1 || performance.now() < lostAt);
    run.cluster.add("NetworkPolicy", "run-dns");
    return [chosen("blackhole", "hot-deals-1"), chosen("dns", "hot-deals-2")];
}

it("more checks than Node.js expects listeners give no warning", async () => {
    const warned = vi.fn();
    process.on("warning", warned);
    onTestFinished(() => void process.off("warning", warned));
    const [one] = run.plan.checks;
    run.plan.checks = Array.from({ length: 12 }, (_, index) => ({ ...one!, name: `check ${index}` }));
    await step();
    await new Promise((resolve) => process.nextTick(resolve));
    expect(warned).not.toHaveBeenCalled();
});
