import { describe, expect, it } from "vitest";
import { exercisesIn } from "../../../../cli/exercises/page";

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
