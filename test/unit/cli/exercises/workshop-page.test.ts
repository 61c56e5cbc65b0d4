import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { stateOf } from "../../../../cli/exercises/edits";
import { editsOf, type Exercise, exercises, filesOf } from "../../../../cli/exercises/page";
import { project } from "../../../../cli/stack-file";
import { loadSavedExperiments } from "../../support/saved-experiments";

const all = exercises();
const named = all.map((exercise) => [exercise.title, exercise] as const);
const runsOf = ({ steps }: Exercise) => steps.filter((step) => "args" in step && step.program === "experiment");
const read = (file: string) => readFileSync(join(project, file), "utf8");

describe("docs/workshop.md", () => {
    it("has eight exercises for 90 minutes; each ends with a run that passes after one that does not", () => {
        expect(all.reduce((sum, { minutes }) => sum + minutes, 0)).toBe(90);
        const verdicts = all.map((exercise) =>
            runsOf(exercise).map((step) => ("args" in step ? step.ending?.verdict : undefined)),
        );
        const answered = Array.from({ length: 6 }, () => ["FAILED", "PASSED"]);
        expect(verdicts).toEqual([...answered, ["PASSED", "not begun", "PASSED"], ["FAILED", "PASSED"]]);
    });

    it("numbers its exercises, and each has a question, its preparation, and a transcript of each run", () => {
        expect(all.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
        for (const { number, question, steps } of all) {
            const [preparation, ...runs] = steps.filter((step) => "args" in step);
            expect(question).not.toBe("");
            expect(preparation).toMatchObject({ program: "workshop", args: [String(number)] });
            for (const run of runs) expect(run.ending, run.args.join(" ")).toBeDefined();
        }
    });

    it("names the file of each change, with context that tells before from after", () => {
        for (const { file, before, after } of editsOf(all)) {
            expect(file).not.toBe("");
            expect(before.includes(after) || after.includes(before), file).toBe(false);
        }
        for (const { path } of all.flatMap(filesOf)) expect(path).toMatch(/\.ts$/);
    });

    it("shows pictures that are there", () => {
        const pictures = [...read("docs/workshop.md").matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, file]) => file!);
        expect(pictures.length).toBeGreaterThan(0);
        for (const file of pictures) expect(existsSync(join(project, "docs", file)), file).toBe(true);
    });

    it.each(named)(
        "%s: its changes fit the sources as they are, and give programs without a mistake",
        (_, exercise) => {
            for (const edit of editsOf([exercise])) {
                const text = read(edit.file);
                expect(stateOf(edit, text), edit.file).toBe("original");
                const changed = text.replace(edit.before, () => edit.after);
                const { diagnostics } = ts.transpileModule(changed, { reportDiagnostics: true });
                expect(diagnostics).toEqual([]);
            }
        },
    );

    it.each(named)("%s: its runs name experiments that are there, or that it writes", (_, exercise) => {
        const saved = loadSavedExperiments().map(({ name }) => name);
        const written = filesOf(exercise).map(({ path }) => /^experiments\/saved\/([\w-]+)\.ts$/.exec(path)![1]!);
        for (const step of runsOf(exercise)) if ("args" in step) expect([...saved, ...written]).toContain(step.args[0]);
        for (const name of written) expect(saved).not.toContain(name);
    });
});
