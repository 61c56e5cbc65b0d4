import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Edit, editsIn, Sources, stateOf } from "../../../../cli/exercises/edits";

const diff = `--- a.ts
+++ a.ts
@@ in ask
 begin();
-once();
+twice();
 end();
@@
 first();
+second();
 third();`;
const original = "begin();\nonce();\nend();\nfirst();\nthird();\n";
const changed = "begin();\ntwice();\nend();\nfirst();\nsecond();\nthird();\n";

describe("the edits of a diff", () => {
    it("are its hunks, with their context", () =>
        expect(editsIn(diff)).toEqual([
            { file: "a.ts", before: "begin();\nonce();\nend();", after: "begin();\ntwice();\nend();" },
            { file: "a.ts", before: "first();\nthird();", after: "first();\nsecond();\nthird();" },
        ]));
});

describe("the state of an edit in a text", () => {
    const edit: Edit = { file: "a.ts", before: "once();", after: "twice();" };

    it.each([
        ["once();\n", "original"],
        ["begin();\ntwice();\n", "changed"],
        ["thrice();\n", "unknown"],
        ["once();\nonce();\n", "unknown"],
        ["once();\ntwice();\n", "unknown"],
        ["    once();\n", "unknown"],
    ])("%j is %s", (text, state) => expect(stateOf(edit, text)).toBe(state));
});

describe("edits of files", () => {
    let folder: string;
    const textOf = () => readFileSync(join(folder, "a.ts"), "utf8");
    beforeEach(() => {
        folder = mkdtempSync(join(tmpdir(), "chaos-edits-"));
        writeFileSync(join(folder, "a.ts"), original);
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    it("can be made and reverted, each more than once", () => {
        const sources = new Sources(folder);
        for (let time = 0; time < 2; time++) {
            sources.apply(editsIn(diff));
            expect(textOf()).toBe(changed);
        }
        expect(sources.revert(editsIn(diff))).toEqual(["a.ts"]);
        expect(sources.revert(editsIn(diff))).toEqual([]);
        expect(textOf()).toBe(original);
    });

    it("leave the rest of a file as its owner has written it", () => {
        writeFileSync(join(folder, "a.ts"), `// mine $&\n${changed}`);
        new Sources(folder).revert(editsIn(diff));
        expect(textOf()).toBe(`// mine $&\n${original}`);
    });

    it("are a mistake if the file has neither their lines nor those they make, with the command that mends it", () => {
        const sources = new Sources(folder);
        expect(sources.mistakes(editsIn(diff))).toEqual([]);
        writeFileSync(join(folder, "a.ts"), "begin();\nthrice();\nend();\n");
        const missing = { file: "none.ts", before: "a", after: "b" };
        expect(sources.mistakes([...editsIn(diff), missing])).toEqual([
            expect.stringMatching(/^a\.ts is neither .*: git checkout a\.ts$/),
            expect.stringMatching(/: git checkout none\.ts$/),
        ]);
    });
});
