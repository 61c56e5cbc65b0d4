import { expect, it } from "vitest";
import { type Attack, beginMsOf } from "../../../../chaos/kinds/attacks/registry";
import { timeMistakes } from "../../../../chaos/definition/time-mistakes";

const times = { durationMs: 30_000, graceMs: 15_000, intervalMs: 1_000, deadlineMs: 600_000 };
const blackhole = { kind: "blackhole", target: "k8s.deployment=hot-deals" } as const;

it("must not accept a deadline before the checks end", () => {
    expect(timeMistakes({ ...times, deadlineMs: 45_000 })).toEqual([
        {
            against: "deadline",
            reason:
                "it would come before the checks end; allowed: at least 46s, which is grace, duration and 1s until " +
                "the checks begin",
            betterMs: 180_000,
        },
    ]);
});

it("must leave the deadline of a run without an attack room for its baseline: it counts from before that", () => {
    const measured = { ...times, graceMs: 0, baselineMs: 30_000 };
    const allowed = "allowed: at least 61s, which is baseline, grace, duration and 1s until the checks begin";
    expect(timeMistakes({ ...measured, deadlineMs: 60_999 })).toMatchObject([
        { reason: expect.stringContaining(allowed) },
    ]);
    expect(timeMistakes({ ...measured, deadlineMs: 61_000 })).toEqual([]);
    expect(timeMistakes({ ...measured, attacks: [blackhole], deadlineMs: 60_000 })).toEqual([]);
});

it("must leave a deadline room for the proof of the attacks, and names the number that fits", () => {
    const ofDeadline = (deadlineMs: number) => timeMistakes({ ...times, attacks: [blackhole], deadlineMs });
    expect(ofDeadline(49_999)).toMatchObject([
        { reason: expect.stringContaining("allowed: at least 50s, which is grace, duration and 5s until the attacks") },
    ]);
    expect(ofDeadline(50_000)).toEqual([]);
    const late = { ...times, graceMs: 0, durationMs: 599_000, attacks: [blackhole] };
    expect(timeMistakes(late)).toHaveLength(1);
    const unset = { ...late, deadlineMs: undefined };
    expect(timeMistakes(unset)).toEqual([]);
    expect(timeMistakes({ ...unset, until: "disabled" })).toHaveLength(1);
});

it("must not accept a window in which nobody could see whether established connections are cut", () => {
    const short = { ...times, graceMs: 1_000, durationMs: 3_500 };
    expect(timeMistakes({ ...short, attacks: [blackhole, { ...blackhole, established: "any" }] })).toEqual([]);
    const attacks = [blackhole, { ...blackhole, established: "cut" as const }];
    expect(timeMistakes({ ...short, attacks })).toEqual([
        {
            against: "duration",
            reason:
                "grace and duration are 4500ms in total, too short to show that established connections are cut; " +
                'allowed with established "cut": at least 5s',
            betterMs: 10_000,
        },
    ]);
    expect(timeMistakes({ ...short, graceMs: 1_500, attacks })).toEqual([]);
});

it("knows that a fault takes longer to begin: its proxy must start", () => {
    const fault: Attack = { kind: "fault", service: "hot-deals", delay: "1s" };
    const dns: Attack = { kind: "dns" };
    expect([[], [dns], [dns, fault]].map(beginMsOf)).toEqual([0, 5_000, 15_000]);
});

it("must not accept actions that wait until the checks end", () => {
    const actions = [
        { kind: "wait", durationMs: 40_000 },
        { kind: "wait", durationMs: 5_000 },
    ];
    expect(timeMistakes(times, actions)).toEqual([
        {
            against: "actions",
            reason: "the actions wait 45s in total, but the checks end earlier; allowed: a duration of more than 30s",
            betterMs: 31_000,
        },
    ]);
});

it("must not accept a rollout that may take longer than the checks look", () => {
    expect(timeMistakes(times, [{ kind: "rollout", timeoutMs: 60_500 }])).toEqual([
        {
            against: "actions",
            reason:
                "an action may take 60500ms, but the checks end after 45s; " +
                "allowed: a timeoutMs of at most 45000, or a longer duration",
            betterMs: 47_000,
        },
    ]);
    expect(timeMistakes(times, [{ kind: "rollout", timeoutMs: 45_000 }])).toEqual([]);
});

it("mends all actions by the same duration", () => {
    const actions = [
        { kind: "wait", durationMs: 50_000 },
        { kind: "rollout", timeoutMs: 120_000 },
    ];
    expect(timeMistakes(times, actions).map(({ betterMs }) => betterMs)).toEqual([106_000, 106_000]);
});

it("must not accept a window in which a fault's pulse is never off", () => {
    const pulse = { on: "10s", off: "21s" };
    const fault: Attack = { kind: "fault", service: "hot-deals", delay: "1s", pulse };
    expect(timeMistakes({ ...times, attacks: [fault] })).toEqual([
        {
            against: "duration",
            reason: "it is too short for the attacks to show, which takes 31s; allowed: at least 31s",
            betterMs: 31_000,
        },
    ]);
    expect(timeMistakes({ ...times, durationMs: 31_000, attacks: [fault] })).toEqual([]);
});
