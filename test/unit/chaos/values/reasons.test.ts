import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import {
    decisive,
    reason,
    type ReasonCode,
    reasonCodes,
    ReasonError,
    verdictLine,
} from "../../../../chaos/values/reasons";

const project = resolve(__dirname, "..", "..", "..", "..");
const codes = Object.keys(reasonCodes) as ReasonCode[];

describe("of several reasons, the one counts", () => {
    it.each<[string, ReasonCode[], ReasonCode]>([
        ["that the others may follow from", ["attack-not-held", "clock-shift"], "clock-shift"],
        ["that explains what was seen", ["attack-not-held", "target-changed"], "target-changed"],
        ["for which the Job has ended a run", ["job-not-running", "policy-denies"], "policy-denies"],
        [
            "that was seen, before what could not be",
            ["probe-failed", "witness-silent", "attack-not-held"],
            "attack-not-held",
        ],
        ["that ended the run, before an action that failed then", ["action-failed", "run-over"], "run-over"],
        ["that concerns the whole run, before a single check's", ["too-few-answers", "action-failed"], "action-failed"],
    ])("%s", (_, given, expected) => {
        const reasons = given.map((code) => reason(code, "seen"));
        expect(decisive([undefined, ...reasons])!.code).toBe(expected);
        expect(decisive(reasons.reverse())!.code).toBe(expected);
    });

    it("that was given first, if all have the same code", () => {
        expect(decisive([reason("no-tool", "first"), reason("no-tool", "second")])!.message).toBe("first");
        expect(decisive([undefined])).toBeUndefined();
    });
});

it("a verdict is printed with its code, and an error with what to do", () => {
    const conclusion = { verdict: "INCONCLUSIVE", code: "run-over" as const, reason: "the run has ended." };
    expect(verdictLine(conclusion)).toBe("INCONCLUSIVE (run-over): the run has ended.");
    expect(verdictLine({ verdict: "PASSED", reason: "100% of 9" })).toBe("PASSED: 100% of 9");
    expect(new ReasonError("no-target", "no container matches", "Set another target").message).toBe(
        "no container matches. Set another target",
    );
});

it("each code has a heading in the page about troubleshooting, and each heading there is a code", () => {
    const page = readFileSync(join(project, "docs", "troubleshooting.md"), "utf8");
    const chapter = page.split("\n## Reasons\n")[1]!.split("\n## ")[0]!;
    const headings = [...chapter.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
    expect(headings.sort()).toEqual([...codes].sort());
});

it("each code is used", () => {
    const files = readdirSync(join(project, "chaos"), { recursive: true, encoding: "utf8" }).filter(
        (file) => file.endsWith(".ts") && !/^(node_modules|dist)\//.test(file) && file !== "reasons.ts",
    );
    const code = files.map((file) => readFileSync(join(project, "chaos", file), "utf8")).join("\n");
    // The type of `reason`, `inconclusive` and `ReasonError` lets no other text be a code.
    const isGiven = (one: string) =>
        new RegExp(`(?:reason|reasonOf|inconclusive|ReasonError|whyWorking)\\([^;]*?"${one}"`).test(code);
    expect(codes.filter((one) => !isGiven(one))).toEqual([]);
});
