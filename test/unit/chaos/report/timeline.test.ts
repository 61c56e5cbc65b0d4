import { describe, expect, it } from "vitest";
import { timelineSvg } from "../../../../chaos/report/timeline";
import { count, journal } from "./support";
import { inOrder } from "../../../support/in-order";

describe("the picture of a run", () => {
    const picture = timelineSvg(journal);
    const answers = journal.checks.flatMap((check) => check.answers);

    it("shows each answer to each check once, and tells good ones from bad ones", () => {
        const good = answers.filter((answer) => answer.good).length;
        expect(good).toBeLessThan(answers.length);
        expect(count(picture, /<circle class="good"/g)).toBe(good);
        expect(count(picture, /<path class="bad"/g)).toBe(answers.length - good);
    });

    it("names each check, each attack and each action", () => {
        for (const { name } of journal.checks) expect(picture).toContain(`>${name}</text>`);
        for (const { name } of journal.attacks) expect(picture).toContain(`>${name}</text>`);
        for (const { action } of journal.actions) expect(picture).toContain(action);
    });

    it("shows when each target left its Service, and names no pod that was not affected", () => {
        for (const { targets } of journal.attacks) expect(picture).toContain(`✕ ${targets[0]!.pod.slice(0, 10)}`);
        expect(count(picture, /class="unready"/g)).toBeGreaterThan(0);
        expect(picture).not.toContain("fashion-bestseller");
    });

    it("draws a pod from the moment that it was first seen", () => {
        const at = journal.startedAt + 1_000;
        const pods = (seenAt: number) =>
            timelineSvg({
                ...journal,
                actions: [],
                attacks: [],
                readiness: [
                    { at: seenAt, pod: "late", ready: false },
                    { at: at + 500, pod: "late", ready: true },
                ],
            });
        const begins = (svg: string) => Number(/class="unready" x1="([\d.]+)"/.exec(svg)![1]);
        expect(begins(pods(at))).toBeGreaterThan(begins(pods(journal.startedAt)));
    });

    it("ends the lane of a pod where it was killed, unless one of its name is back", () => {
        const [killedAt, uid] = [journal.attackedAt! + 5_000, "0"];
        const lane = (...later: [afterMs: number, ready: boolean][]) => {
            const changes = [[-5_000, true] as const, ...later];
            const svg = timelineSvg({
                ...{ ...journal, actions: [] },
                attacks: [{ name: "kill", targets: [], kills: [{ at: killedAt, pod: "a", uid }] }],
                readiness: changes.map(([afterMs, ready]) => ({ at: killedAt + afterMs, pod: "a", ready })),
            });
            return [...svg.matchAll(/<line class="((?:un)?ready|killed)" x1="([\d.]+)" x2="([\d.]+)"/g)].map(
                ([, kind, from, to]) => ({ kind, from, to }),
            );
        };
        const [bar, end, ...rest] = lane([300, false]);
        expect([bar!.kind, end!.kind, rest]).toEqual(["ready", "killed", []]);
        expect(bar!.to).toBe(end!.from);
        // Its containers may be ready until the run ends.
        expect(lane()).toEqual([bar, end]);
        expect(lane([300, false], [2_000, true]).map(({ kind }) => kind)).toEqual(["ready", "unready", "ready"]);
    });

    it("ends the lane of a pod that was killed before it was first seen, even if it was ready then", () => {
        const lane = (...states: boolean[]) => {
            const begin = journal.startedAt;
            const svg = timelineSvg({
                ...{ ...journal, actions: [] },
                attacks: [{ name: "kill", targets: [], kills: [{ at: begin - 1_000, pod: "a", uid: "0" }] }],
                readiness: states.map((ready, index) => ({ at: begin + index * 2_000, pod: "a", ready })),
            });
            return [...svg.matchAll(/<line class="((?:un)?ready|killed)" x1/g)].map(([, kind]) => kind);
        };
        expect(lane(true, false)).toEqual(["killed"]);
        expect(lane(true, false, true)).toEqual(["ready", "unready", "ready"]);
        expect(lane(false, true)).toEqual(["unready", "ready"]);
    });

    it("begins with the answers before the attack, and ends with those after it, beside the run", () => {
        const [check] = journal.checks;
        const answersFrom = (at: number, goods: boolean[]) =>
            goods.map((good, index) => ({ at: at + index * 200, latencyMs: 40, good }));
        const of = (at: number, goods: boolean[]) => [{ name: check!.name, answers: answersFrom(at, goods) }];
        const undoneAt = journal.endedAt + 3_600_000;
        const whole = timelineSvg({
            ...{ ...journal, actions: [], attacks: [], readiness: [] },
            before: of(journal.startedAt - 9_000, [true, true, true]),
            checks: of(journal.attackedAt!, [false, false]),
            recovery: { undoneAt, recoveredAfterMs: 600, checks: of(undoneAt, [false, true, true, true]) },
        });
        const marks = [...whole.matchAll(/<(?:circle class="(good)" cx="([\d.]+)"|path class="(bad)" d="M([\d.]+))/g)];
        const kinds = marks.map(([, good, , bad]) => good ?? bad);
        expect(kinds).toEqual(["good", "good", "good", ...Array(3).fill("bad"), "good", "good", "good"]);
        const places = marks.map(([, , good, , bad]) => Number(good ?? bad));
        expect(places).toEqual(places.toSorted((a, b) => a - b));
        expect(places.at(-1)).toBeLessThanOrEqual(640);
        expect(whole).toMatch(inOrder(">before</text>", ">after</text>", ">0 s</text>"));
        expect(whole).toContain("; before, 3 of 3 answers were good; after, 3 of 4 answers were good");
        // The figures are those of the run.
        expect(whole).not.toContain("median");
        expect(picture).not.toMatch(/>(?:before|after)</);
    });

    it("shows twelve pods, those that changed first, and says how many are left out", () => {
        const { attackedAt, attacks } = journal;
        const leaving = (pod: string, afterMs: number) => [
            { at: journal.startedAt, pod, ready: true },
            { at: attackedAt! + afterMs, pod, ready: false },
        ];
        const picture = (many: number, targets: number) => {
            const names = Array.from({ length: many }, (_, index) => `pod-${String(index).padStart(2, "0")}`);
            const [target] = attacks[0]!.targets;
            return timelineSvg({
                ...journal,
                attacks: [{ ...attacks[0]!, targets: names.slice(0, targets).map((pod) => ({ ...target!, pod })) }],
                readiness: names.flatMap((pod, index) => leaving(pod, 10_000 - index * 100)),
            });
        };
        const shown = picture(20, 1);
        const lanes = [...shown.matchAll(/>(?:✕ )?(pod-\d\d)</g)].map(([, pod]) => pod);
        expect(lanes).toEqual([
            "pod-00",
            ...Array.from({ length: 11 }, (_, index) => `pod-${String(19 - index).padStart(2, "0")}`),
        ]);
        expect(shown).toContain(">and 8 more pods</text>");
        expect(picture(13, 13)).toContain(">and 1 more pod, 1 attacked</text>");
        expect(picture(12, 12)).not.toContain("more pod");
    });

    it("has its times in minutes if the run took minutes", () => {
        const timesOf = (durationMs: number) => {
            const { attackedAt } = journal;
            const run = { ...journal, startedAt: attackedAt! - 1_000, endedAt: attackedAt! + durationMs, checks: [] };
            const svg = timelineSvg({ ...run, actions: [], readiness: [] });
            return [...svg.matchAll(/text-anchor="middle">(\S+ \w+)</g)].map(([, time]) => time);
        };
        expect(timesOf(60_000).at(-1)).toBe("60 s");
        expect(timesOf(3_600_000).slice(0, 2)).toEqual(["0 min", "10 min"]);
        expect(timesOf(3 * 3_600_000).at(-1)).toBe("180 min");
    });

    it("keeps the heading's name and figures apart, in a wide font, too", () => {
        const [check] = journal.checks;
        const answers = [{ at: journal.attackedAt!, latencyMs: 74, good: true }];
        const name = "/products/a/long/name/that/does/not/fit/anywhere/and/so/on/and/on";
        const plan = { ...journal.plan, checks: [{ ...journal.plan.checks[0]!, name }] };
        const shown = timelineSvg({ ...journal, plan, checks: [{ ...check!, name, answers }] });
        const [, kept] = />(\/products\/a[^<]*…[^<]*)</.exec(shown)!;
        const figures = "good: median 74 ms, 95% within 74 ms";
        expect(shown).toContain(figures);
        // Measured in DejaVu Sans, in pixels for each character of these two texts; there are 556 in all.
        expect(kept!.length * 6.9 + figures.length * 7.25).toBeLessThan(556 - 16);
    });

    it("names the grace period and the window one above the other if the grace period is short", () => {
        const placesWith = (graceMs: number) => {
            const { plan } = journal;
            const short = timelineSvg({ ...journal, plan: { ...plan, window: { graceMs, durationMs: 20_000 } } });
            const placeOf = (name: string) =>
                Number(new RegExp(` y="([\\d.]+)" text-anchor="\\w+">${name}`).exec(short)![1]);
            return { grace: placeOf("grace"), window: placeOf("under attack") };
        };
        const [short, long] = [placesWith(100), placesWith(12_000)];
        expect(short.grace).toBeLessThan(short.window);
        expect(long.grace).toBe(long.window);
    });

    it("shows the latency of answers over time, how fast the good ones were, and the limit that a check sets", () => {
        const http = journal.checks[0]!;
        const withAnswers = (latenciesMs: number[], check: object = {}, answer: object = {}) =>
            timelineSvg({
                ...journal,
                plan: {
                    ...journal.plan,
                    checks: [{ ...journal.plan.checks[0]!, check: { kind: "http", path: "/products", ...check } }],
                },
                checks: [
                    {
                        name: http.name,
                        answers: latenciesMs.map((latencyMs, index) => ({
                            ...{ at: http.answers[0]!.at + index * 100, latencyMs, good: true },
                            ...(index === 0 && answer),
                        })),
                    },
                ],
            });
        const shown = withAnswers([10, 20, 20, 500], { maxLatencyMs: 400 });
        expect(shown).toContain(">good: median 20 ms, 95% within 500 ms</text>");
        const late = { good: false, unseen: true, stalledMs: 2_000 };
        expect(withAnswers([2_000, 20, 20, 500], {}, late)).toContain(
            ">good or not sent in time: median 20 ms, 95% unknown</text>",
        );
        expect(withAnswers([610, 20], {}, { stalledMs: 600 })).toContain(
            ": good, 610 ms, this machine up to 600 ms late<",
        );
        expect(shown).toContain(">limit 400 ms</text>");
        expect(count(shown, /<polyline class="course"/g)).toBe(1);
        const [first, , , last] = [...shown.matchAll(/<circle class="good"[^>]* cy="([\d.]+)"/g)].map(([, y]) =>
            Number(y),
        );
        expect(last).toBeLessThan(first!);
        const scaleOf = (svg: string) => [...svg.matchAll(/text-anchor="end">(\d+ m?s)</g)].map(([, mark]) => mark);
        expect(scaleOf(shown)).toEqual(["10 ms", "100 ms", "1 s"]);
        expect(scaleOf(withAnswers([3, 4]))).toEqual(["1 ms", "10 ms", "100 ms"]);
        expect(scaleOf(withAnswers([2_000, 5_000]))).toEqual(["100 ms", "1 s", "10 s"]);
        expect(scaleOf(withAnswers([20_000]))).toEqual(["1 s", "10 s", "100 s"]);
    });

    it("has one scale for all requests of a run, and each limit's name where it hides no answer", () => {
        const [name, first] = [journal.checks[0]!.name, journal.attackedAt!];
        const answers = (latencyMs: number) =>
            Array.from({ length: 300 }, (_, index) => ({ at: first + index * 100, latencyMs, good: true }));
        const check = { kind: "http" as const, path: "/products", maxLatencyMs: 2_500 };
        const shown = timelineSvg({
            ...journal,
            plan: { ...journal.plan, checks: [1, 2, 3].map(() => ({ ...journal.plan.checks[0]!, check })) },
            checks: [answers(3_000), answers(2_000), answers(11)].map((each) => ({ name, answers: each })),
        });
        const marks = [...shown.matchAll(/text-anchor="end">(\d+ m?s)</g)].map(([, mark]) => mark);
        expect(marks).toEqual(Array(3).fill(["10 ms", "100 ms", "1 s", "10 s"]).flat());
        const heights = (pattern: RegExp) => [...shown.matchAll(pattern)].map(([, y]) => Number(y));
        const limits = heights(/class="mark"[^>]* y1="([\d.]+)"/g).slice(-3);
        const below = heights(/y="([\d.]+)"[^>]*>limit 2.5 s</g).map((y, index) => y > limits[index]!);
        expect(below).toEqual([true, false, false]);
        expect(shown.lastIndexOf("limit 2.5 s")).toBeGreaterThan(shown.lastIndexOf('class="good"'));
    });

    it("can be read on a page of 600 pixels, and is dark on no paper", () => {
        const drawn = Number(/viewBox="0 0 (\d+) /.exec(picture)![1]);
        const sizes = [...picture.matchAll(/font(?:-size)?: (\d+)px/g)].map(([, size]) => Number(size));
        expect((Math.min(...sizes) * 568) / drawn).toBeGreaterThan(11);
        expect(count(picture, /prefers-color-scheme/g)).toBe(
            count(picture, /@media screen and \(prefers-color-scheme/g),
        );
    });

    it("ends the attack where an abort ended it, and marks the abort", () => {
        const { attackedAt, endedAt } = journal;
        const afterMs = endedAt - attackedAt! - 5_000;
        const aborted = {
            ...{ check: "/products", afterMs, rate: "20%", answers: 10, below: "50%", overMs: 10_000 },
            endedAt: endedAt - 4_000,
        };
        const shown = timelineSvg({ ...journal, aborted });
        const widthOf = (svg: string) => Number(/<rect class="attack"[^>]* width="([\d.]+)"/.exec(svg)![1]);
        expect(widthOf(shown)).toBeLessThan(widthOf(picture));
        expect(shown).toContain("aborted: /products, 20% succeeded (abort below 50%)");
        expect(picture).not.toContain("aborted");
    });

    it("says in words what it shows", () => {
        expect(picture).toMatch(/role="img" aria-labelledby="title description"/);
        expect(picture).toMatch(
            inOrder(
                /<desc id="description">\d+ requests to \/products, \d+ of them bad; \d+ probes of pods of /,
                "; under attack, 100% of the counted answers were good; done meanwhile: wait 2 s, scale ",
                "; recovered",
            ),
        );
    });

    it("shows a window without an attack: no grace period, and all answers count", () => {
        const { attackedAt: _, ...rest } = journal;
        const plan = { ...journal.plan, attacks: [], window: { graceMs: 0, durationMs: 20_000 } };
        const shown = timelineSvg({ ...rest, attacks: [], plan });
        expect(shown).toContain(">no attack, all counted</text>");
        expect(shown).toMatch(/<rect class="window"/);
        expect(shown).not.toMatch(/class="(?:attack|grace)"|attacked|attack was/);
        expect(shown).toContain("; without an attack, 100% of the counted answers were good");
        expect(timelineSvg({ ...rest, attacks: [], plan, recovery: undefined })).toContain("not undone yet");
        const observing = { ...plan, actions: [] };
        expect(timelineSvg({ ...rest, attacks: [], plan: observing, recovery: undefined })).not.toContain("not undone");
    });

    it("shows no attack if none was proven", () => {
        const { attackedAt: _, recovery: __, ...rest } = journal;
        const unproven = timelineSvg({
            ...rest,
            checks: rest.checks.map((check) => ({ ...check, answers: [] })),
            readiness: [],
        });
        expect(unproven).not.toMatch(/class="(?:attack|grace)"/);
    });
});
