import { describe, expect, it } from "vitest";
import { besides } from "../../../chaos/kinds/actions/registry";
import { checkName } from "../../../chaos/kinds/checks/registry";
import { type Key, overrides, settings } from "../../../components/configuration/settings";
import { productsCheck } from "../../../experiments/products";
import { loadSavedExperiments } from "../support/saved-experiments";
import { differenceFrom, expectationOf, lessons, type Story, verdictOf } from "../../../experiments/story";

const saved = loadSavedExperiments();
const stories = saved.flatMap(({ story, ...experiment }) => (story ? [{ ...experiment, story }] : []));

it("each setting of experiments makes another one of a story, or does not change what it shows", () => {
    const harmless = [
        "enabled",
        "name",
        "duration",
        "interval",
        "grace",
        "baseline",
        "deadline",
        "until",
        "onFailure",
        "run",
    ];
    const all = Object.keys(settings).filter((key) => key.startsWith("experiment."));
    expect([...overrides, ...harmless.map((key) => `experiment.${key}`)].sort()).toEqual(all.sort());
});

describe("the stories of the saved experiments", () => {
    it("are told of each experiment, and each lesson has some", () => {
        expect(stories).toHaveLength(saved.length);
        expect([...new Set(stories.map(({ story }) => story.lesson))].sort()).toEqual(Object.keys(lessons).sort());
    });

    it.each(stories)("$name names checks and loads it has", ({ checks = [productsCheck], actions = [], story }) => {
        const loads = besides(actions).map(({ action, beside }) => beside.name(action));
        expect([...checks.map(checkName), ...loads]).toEqual(expect.arrayContaining(story.failing ?? []));
    });

    it.each(stories)("$name sets what a stack may set", ({ story: { remedy } }) => {
        for (const [key, value] of Object.entries(remedy?.settings ?? {})) {
            expect(Object.keys(settings)).toContain(key);
            expect(settings[key as Key].read(value)).toBeDefined();
            expect(settings[key as Key]).not.toHaveProperty("default", value);
        }
    });

    it.each(stories.filter(({ story }) => story.remedy))(
        "$name shows its remedy: by settings, by another check, or by another experiment",
        ({ checks = [productsCheck], story: { failing = [], remedy } }) => {
            const { settings, compare } = remedy!;
            const other = stories.find(({ name }) => name === compare);
            if (compare !== undefined) expect(verdictOf(other!.story)).not.toBe(verdictOf({ failing }));
            else if (settings !== undefined) expect(failing).not.toEqual([]);
            else expect([0, checks.length]).not.toContain(failing.length);
        },
    );
});

describe("the expectation of a run", () => {
    const story: Story = {
        lesson: "pods",
        failing: ["/products"],
        remedy: { what: "More pods.", settings: { "replicas.hot-deals": "3", "shutdown.delay": "5s" } },
    };
    const expected = (set: Record<string, string>) => expectationOf(story, (key) => set[key], overrides);

    it("is the story's with default settings, and that all holds with those of its remedy", () => {
        expect(expected({ variant: "four", "experiment.duration": "5s" })?.failing).toEqual(["/products"]);
        expect(expected({ "replicas.hot-deals": "3", "shutdown.delay": "5s" })?.failing).toEqual([]);
    });

    it("is unknown with a part of the remedy, or another number", () => {
        expect(expected({ "replicas.hot-deals": "3" })).toBeUndefined();
        expect(expected({ "replicas.hot-deals": "2", "shutdown.delay": "5s" })).toBeUndefined();
    });

    it("is unknown if settings make another experiment of it", () => {
        for (const key of ["target", "attack", "radius", "successRate"])
            expect(expected({ [`experiment.${key}`]: "1" })).toBeUndefined();
    });
});

describe("a run is compared with its expectation", () => {
    const ending = (verdict: string, failed: string[], held: string[] = []) => ({
        verdict,
        checks: [...failed.map((name) => ({ name, held: false })), ...held.map((name) => ({ name, held: true }))],
    });
    const difference = (failing: string[], end: ReturnType<typeof ending>, mayPass = false) =>
        differenceFrom({ failing, mayPass }, end);

    it("by its verdict: a FAILED that is expected is as it should be", () => {
        expect(difference(["a"], ending("FAILED", ["a"], ["b"]))).toBeUndefined();
        expect(difference([], ending("PASSED", [], ["a"]))).toBeUndefined();
        expect(difference(["a"], ending("PASSED", [], ["a"]))).toBe("expected FAILED");
        expect(difference([], ending("FAILED", ["a"]))).toBe("expected PASSED");
        expect(difference(["a"], ending("INCONCLUSIVE", ["a"]))).toBe("expected FAILED");
    });

    it("and by the checks that did not hold", () => {
        expect(difference(["a"], ending("FAILED", ["b"], ["a"]))).toBe("expected to fail: a");
        expect(difference(["a"], ending("FAILED", ["a", "b"]))).toBe("expected to fail: a");
    });

    it("unless it is a matter of milliseconds", () =>
        expect(difference(["a"], ending("PASSED", [], ["a"]), true)).toBeUndefined());
});
