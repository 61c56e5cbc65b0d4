import { describe, expect, it } from "vitest";
import { type DefinedExperiment, planOfArguments } from "../../../../chaos/definition/arguments";
import { inputsOf } from "../../../../chaos/definition/inputs";
import { planToken } from "../../../../chaos/definition/plan";

const check = { kind: "podsReady", of: "k8s.deployment=api", atLeast: 2 } as const;
const args: DefinedExperiment = {
    hypothesis: "It holds.",
    attacks: [{ kind: "blackhole", target: "k8s.deployment=api,k8s.namespace=shop" }],
    checks: [check],
};
const planOf = (begin: unknown) => planOfArguments("one", { ...args, begin } as DefinedExperiment);

it("waits five minutes at most, and asks at the experiment's interval, unless it says otherwise", () => {
    expect(planOf({ when: check }).begin).toMatchObject({ when: { intervalMs: 1_000 }, withinMs: 300_000 });
    const own = planOf({ when: { ...check, perSecond: 10 }, within: "90s" });
    expect(own.begin).toMatchObject({ when: { intervalMs: 100 }, withinMs: 90_000 });
    expect(inputsOf(own)).toMatchObject({ begin: { when: check, within: "90s" } });
});

it("an experiment without it has the name that it had before there was a wait", () => {
    expect(planToken(planOf(undefined))).toBe(planToken(planOfArguments("one", args)));
    expect(planToken(planOf({ when: check }))).not.toBe(planToken(planOf(undefined)));
});

describe("is refused", () => {
    it.each([
        ["without a check", {}, "begin.when: is missing"],
        ["with a wrong check", { when: { kind: "ping" } }, 'begin.when.kind: is "ping"; allowed: '],
        [
            "with too long a time",
            { when: check, within: "2h" },
            'begin.within: "2h" is not allowed; allowed: a duration from 1s to 1h',
        ],
        [
            "with a rate",
            { when: { ...check, successRate: 0.5 } },
            "begin.when.successRate: one good answer begins the run",
        ],
        [
            "with a comparison",
            { when: { kind: "http", path: "/", url: "http://a", latency: { p95: { atMost: "2x" } } } },
            "begin.when.latency: one good answer",
        ],
        ["with an abort rule", { when: { ...check, abortBelow: "50%" } }, "begin.when.abortBelow: one good answer"],
        ["with another field", { when: check, until: "5m" }, 'begin: there is no field "until" here'],
        [
            "if it asks no Service",
            { when: { kind: "http", path: "/queue" } },
            "has an http check, and no Service to ask: set `service` or `url` of /queue",
        ],
    ])("%s", (_, begin, mistake) => {
        expect(() => planOf(begin)).toThrow(mistake);
    });
});
