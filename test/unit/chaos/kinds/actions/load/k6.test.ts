import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { load } from "../../../../../../chaos/kinds/actions/load/load";
import type { LoadAction } from "../../../../../../chaos/kinds/actions/load/load-action";
import { SenderReader } from "../../../../../../chaos/kinds/actions/load/reader";
import { K6Samples } from "../../../../../../chaos/kinds/actions/load/sender/k6-samples";
import type { SecondLine } from "../../../../../../chaos/kinds/actions/load/sender/second-line";
import { besides } from "../../../../../../chaos/kinds/actions/registry";
import { mistakesIn } from "../../../../../../chaos/definition/definition";
import { adviceOnSent, describeSent, isDelivered } from "../../../../../../chaos/report/deliveries";

const action: LoadAction = { kind: "load", k6: { image: "registry.example/k6:1", args: ["run", "/scripts/shop.js"] } };

describe("a definition", () => {
    const mistakesOf = (k6: object, more: object = {}) =>
        mistakesIn({ hypothesis: "It holds.", actions: [{ kind: "load", k6: { ...action.k6, ...k6 }, ...more }] });

    it("of a script may have a name, and any option of k6 that leaves its scenarios", () => {
        const args = ["run", "-e", "BASE=http://web -u1", "--out=csv=/dev/null", "--tag", "a=b", "/scripts/shop.js"];
        expect(mistakesOf({ args }, { name: "shoppers" })).toEqual([]);
    });

    it.each<[string, object, object, string]>([
        ["no image", { image: undefined }, {}, "k6.image: is missing; allowed: text"],
        ["no arguments", { args: [] }, {}, "k6.args: has 0 items; allowed: at least 1"],
        ["another command", { args: ["cloud", "run"] }, {}, 'k6.args.0: is another command; allowed: "run"'],
        ["users in a closed loop", { args: ["run", "-u10", "a.js"] }, {}, "k6.args.1: makes the script a closed loop"],
        ["a duration", { args: ["run", "a.js", "--duration=9s"] }, {}, "k6.args.2: makes the script a closed loop"],
        ["no output", { args: ["run", "--quiet", "a.js"] }, {}, "k6.args.1: hides how k6 sends"],
        [
            "a secret in clear text",
            { args: ["run", "-e", "API_TOKEN=abc", "a.js"] },
            {},
            "k6.args.2: has a value of API_TOKEN; secrets must not be",
        ],
        ["a rate beside the script's", {}, { perSecond: 5 }, "perSecond: the script of `k6` says that; leave it out"],
        ["limits", {}, { successRate: 0.9 }, "successRate: the script of `k6` says that; leave it out"],
    ])("must not have %s", (_, k6, more, mistake) =>
        expect(mistakesOf(k6, more).join("\n")).toContain(`actions.0.${mistake}`),
    );

    it("must say what is sent if no script does", () => {
        const mistakes = mistakesIn({ hypothesis: "It holds.", actions: [{ kind: "load" }] }).join("\n");
        for (const field of ["perSecond", "path", "service"])
            expect(mistakes).toContain(`actions.0.${field}: is missing`);
    });
});

it("is named by its arguments, and described with its image", () => {
    const [{ beside }] = besides([action]) as [ReturnType<typeof besides>[number]];
    expect(beside.name(action)).toBe("load by k6 /scripts/shop.js");
    expect(load.describe(action)).toBe(
        'run "k6 run /scripts/shop.js" of the image registry.example/k6:1 during the whole run',
    );
});

describe("its pod", () => {
    const made = { image: "node:22", programs: { sender: "void 'the sender';" }, lastsSeconds: 900 };
    const podOf = (args: string[]) =>
        load.beside!.podSpec({ ...action, k6: { ...action.k6!, args } }, made) as Record<string, any>;

    it("is that of a sender, with k6 in a container that has no more rights, and reports to the other one", () => {
        const spec = podOf(["run", "a.js"]);
        expect(spec).toMatchObject({
            automountServiceAccountToken: false,
            restartPolicy: "Never",
            activeDeadlineSeconds: 900,
            securityContext: { runAsNonRoot: true },
        });
        const [sender, k6] = spec.containers;
        expect([sender.name, sender.image, sender.env]).toEqual(["sender", "node:22", []]);
        expect(k6).toMatchObject({
            name: "k6",
            image: "registry.example/k6:1",
            args: ["run", "a.js", "--out", "influxdb=http://127.0.0.1:6564/k6"],
            securityContext: sender.securityContext,
            terminationMessagePolicy: "FallbackToLogsOnError",
        });
        expect(load.beside!.containers(action)).toEqual(["sender", "k6"]);
    });

    it("gives k6 its arguments as they were written: the kubelet would replace variables", () => {
        expect(podOf(["run", "-e", "A=$(HOSTNAME)"]).containers[1].args[2]).toBe("A=$$(HOSTNAME)");
    });
});

/**
 * What k6 1.3.0 sent in 6 s, with the times at which it did, without metrics that do not count: 4 iterations a second
 * were due; its only VU took 0.36 s for one, which asked for a product, for an error 502, and once for a closed port.
 */
const recorded = readFileSync(join(__dirname, "k6-1.3.0.txt"), "utf8");
const pushes = recorded
    .split(/^# /m)
    .slice(1)
    .map((push) => ({ at: parseInt(push), text: push.replace(/^.*\n/, "") }));
const lastAt = pushes.at(-1)!.at;

function linesOf(read: typeof pushes): SecondLine[] {
    const lines: SecondLine[] = [];
    const samples = new K6Samples((line) => lines.push(line));
    for (const { at, text } of read) samples.take(text, at);
    return lines;
}
const tick = (seconds: number) => ({ at: lastAt + seconds * 1_000, text: "" });
const logOf = (lines: SecondLine[]) => lines.map((line) => JSON.stringify(line)).join("\n");
const open =
    "     scenarios: (100.00%) 1 scenario, 1 max VUs\n              * shop: 4.00 iterations/s for 6s (maxVUs: 1)\n";

describe("what k6 reports", () => {
    it("is counted by seconds: iterations, those that it dropped, and what became of requests", () => {
        const lines = linesOf([...pushes, tick(4)]);
        expect(lines.map(({ second }) => second)).toEqual(lines.map((_, index) => index + 1));
        const sum = (of: (line: SecondLine) => number) => lines.reduce((total, line) => total + of(line), 0);
        expect([sum(({ sent }) => sent), sum(({ busy }) => busy), sum(({ due }) => due)]).toEqual([13, 12, 25]);
        expect([sum(({ good }) => good), sum(({ bad }) => bad["status 502"] ?? 0)]).toEqual([13, 13]);
        expect(sum(({ bad }) => bad["no answer"] ?? 0)).toBe(1);
        expect(lines[3]).toMatchObject({ due: 4, sent: 2, busy: 2, good: 2 });
    });

    it("is written when all of a second has come", () => {
        for (const { second, at, written } of linesOf(pushes)) {
            expect(written - at, String(second)).toBeGreaterThan(4_000);
            expect(written - at, String(second)).toBeLessThan(5_100);
        }
    });

    it("is not of seconds in which it is silent: it has ended, or was stopped", () => {
        const last = linesOf([...pushes, tick(2), tick(20)]).at(-1)!;
        expect(last.at).toBeLessThan(lastAt + 2_000);
    });
});

describe("the reader", () => {
    const readerOf = (lines: SecondLine[]) => {
        const reader = new SenderReader(action);
        reader.read(open + logOf(lines), lines.at(-1)!.written);
        return reader;
    };
    const lines = linesOf([...pushes, tick(4)]);

    it("takes what was dropped for not sent, in requests as the others, and says so", () => {
        const delivery = readerOf(lines).last(3)!;
        const { due, sent, busy, unreported, good, bad } = delivery;
        expect(sent).toBe(good + Object.values(bad).reduce((sum, one) => sum + one));
        expect([due, unreported]).toEqual([sent + busy, 0]);
        expect(busy / due).toBeGreaterThan(0.3);
        expect(isDelivered(delivery)).toBe(false);
        expect(describeSent(delivery)).toMatch(
            /^\d\d(?:\.\d)?% of \d+ requests of load by k6 .*all its connections or VUs waited/,
        );
        expect(adviceOnSent(delivery)).toContain("`maxVUs` of k6");
        expect(delivery.latencyMs!.p50).toBeLessThan(20);
    });

    it("takes seconds without a report for as many requests as the others: k6 has ended before the window", () => {
        const delivery = readerOf(lines.slice(0, 5)).between(lines[0]!.at, lines[0]!.at + 60_000);
        expect(delivery.unreported / delivery.due).toBeGreaterThan(0.9);
        expect(isDelivered(delivery)).toBe(false);
        expect(adviceOnSent(delivery)).toContain("must last longer than the run");
    });

    it.each([
        ["all", "2 looping VUs for 2s (gracefulStop: 30s)"],
        ["p", "1 iterations for each of 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)"],
        ["r", "Up to 2 looping VUs for 1s over 1 stages (gracefulRampDown: 30s, gracefulStop: 30s)"],
        ["s", "1 iterations shared among 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)"],
    ])("does not take a closed loop for a load: %s: %s", (name, how) => {
        const reader = readerOf(lines);
        expect(reader.whyUnfit(true)).toBeUndefined();
        reader.read("              * ramp: Up to 20.00 iterations/s for 2s over 1 stages (maxVUs: 4)", 0);
        expect(reader.whyUnfit(true)).toBeUndefined();
        reader.read(`              * ${name}: ${how}`, 0);
        expect(reader.whyUnfit(true)).toBe(
            `scenario “${name}” of k6 is a closed loop (“${how}”): use the executor constant-arrival-rate or ` +
                "ramping-arrival-rate in the script",
        );
    });

    it("wants to know of k6 that runs how it sends", () => {
        const reader = new SenderReader(action);
        expect([reader.whyUnfit(true), reader.whyUnfit(false)]).toEqual([
            expect.stringContaining("does not say"),
            undefined,
        ]);
    });
});
