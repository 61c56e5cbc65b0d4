import { expect, it } from "vitest";
import { timeMistakes } from "../../../../chaos/definition/time-mistakes";

const times = { durationMs: 30_000, graceMs: 15_000, intervalMs: 1_000, deadlineMs: 600_000 };

it("must not accept a deadline before the checks end", () => {
    expect(timeMistakes({ ...times, deadlineMs: 45_000 })).toEqual([
        {
            against: "deadline",
            reason: "it would come before the checks end; allowed: more than grace and duration together, 45s",
            betterMs: 180_000,
        },
    ]);
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
});

it("accepts a rollout that may take as long as the checks look", () => {
    expect(timeMistakes(times, [{ kind: "rollout", timeoutMs: 45_000 }])).toEqual([]);
});

it("mends all actions by the same duration", () => {
    const actions = [
        { kind: "wait", durationMs: 50_000 },
        { kind: "rollout", timeoutMs: 120_000 },
    ];
    expect(timeMistakes(times, actions).map(({ betterMs }) => betterMs)).toEqual([106_000, 106_000]);
});
