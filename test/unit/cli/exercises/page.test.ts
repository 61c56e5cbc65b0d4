import { describe, expect, it } from "vitest";
import { differenceFromPage, endingIn, exercisesIn } from "../../../../cli/exercises/page";

const preparation = (number: number) => `
**Question** (5 minutes): Does it
hold?

    npm run workshop -- ${number}
`;
const transcript = (verdict: string) => `
\`\`\`
  Check          /a: 0% succeeded, did not hold
  Check          b, c: 100% succeeded, held
  Verdict        ${verdict}: because.
\`\`\`
`;

describe("the exercises of a page", () => {
    it("have a question, commands with the ends of their transcripts, changes and files, in the page's order", () => {
        const page = `# Workshop

    npm run experiment -- not-in-an-exercise

## 1. Gone
${preparation(1)}
\`\`\`
Anything.
\`\`\`

    npm run experiment -- --status              # for reading
    npm run experiment -- a --set b.c=1         # a comment
    npx pulumi preview
${transcript("FAILED")}
\`\`\`diff
+++ a.ts
@@
-once();
+twice();
\`\`\`

\`\`\`ts
// experiments/saved/mine.ts
export default {};
\`\`\`

## Afterwards

    npm run experiment -- not-in-an-exercise
`;
        expect(exercisesIn(page)).toEqual([
            {
                number: 1,
                title: "Gone",
                question: "Does it hold?",
                minutes: 5,
                steps: [
                    { program: "workshop", args: ["1"] },
                    {
                        program: "experiment",
                        args: ["a", "--set", "b.c=1"],
                        ending: { verdict: "FAILED", failing: ["/a"] },
                    },
                    { edits: [{ file: "a.ts", before: "once();", after: "twice();" }] },
                    {
                        path: "experiments/saved/mine.ts",
                        text: "// experiments/saved/mine.ts\nexport default {};\n",
                    },
                ],
            },
        ]);
    });
});

describe("the ending of a run, as it is printed", () => {
    it("has the verdict, and the checks that did not hold if there are several", () => {
        expect(endingIn("\n  Verdict        FAILED: 0% of 15 requests\n")).toEqual({ verdict: "FAILED" });
        const checks = [
            "/b: 0% succeeded, did not hold",
            "/a: 9.1% of 11 (95% confidence: at most 36.5%) succeeded, did not hold",
            "c: 100% succeeded, held",
        ];
        const printed = [...checks.map((check) => `  Check          ${check}`), "  Verdict        FAILED: because"];
        expect(endingIn(printed.join("\n"))).toEqual({ verdict: "FAILED", failing: ["/a", "/b"] });
    });

    it("is that nothing was begun, if its settings are a mistake", () =>
        expect(endingIn("Preparing\n\nNot begun: experiment.duration is too short")).toEqual({ verdict: "not begun" }));

    it("is unknown without a verdict", () => expect(endingIn("The run failed: no cluster")).toBeUndefined());
});

describe("a run is compared with the page", () => {
    const failed = { verdict: "FAILED", failing: ["/a"] };

    it("by its verdict, and by the checks that did not hold", () => {
        expect(differenceFromPage(failed, { verdict: "FAILED", failing: ["/a"] })).toBeUndefined();
        expect(differenceFromPage(failed, { verdict: "FAILED", failing: ["/b"] })).toBe(
            "on the page, these checks fail: /a",
        );
        expect(differenceFromPage({ verdict: "PASSED" }, { verdict: "FAILED" })).toBe("the page has PASSED");
        expect(differenceFromPage({ verdict: "PASSED" }, undefined)).toBe("the page has PASSED");
    });

    it("unless it is a matter of milliseconds", () => {
        expect(differenceFromPage(failed, { verdict: "PASSED", failing: [] }, true)).toBeUndefined();
        expect(differenceFromPage(failed, { verdict: "PASSED", failing: [] })).toBe("the page has FAILED");
        expect(differenceFromPage(failed, { verdict: "INCONCLUSIVE" }, true)).toBe("the page has FAILED");
    });
});
