import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mistakesInOutputs } from "../../../../../chaos/report/exports/ci-files";
import { replaceFile } from "../../../../../chaos/report/journal-files";

const folder = mkdtempSync(join(tmpdir(), "output-files-"));
const at = (...parts: string[]) => join(folder, ...parts);

beforeAll(() => {
    writeFileSync(at("file.xml"), "old");
    mkdirSync(at("folder.xml"));
    symlinkSync("/dev/null", at("link.xml"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("a file to be written later", () => {
    it("may be new, replace another one, or be in a folder that is not there yet", () => {
        const before = readdirSync(folder);
        expect(mistakesInOutputs({ "--junit": at("new.xml"), "--summary": at("file.xml") })).toEqual([]);
        expect(mistakesInOutputs({ "--junit": at("a", "b", "new.xml"), "--summary": undefined })).toEqual([]);
        expect(readdirSync(folder)).toEqual(before);
    });

    it.each([
        ["a folder", at("folder.xml"), /is there, but is not a regular file/],
        ["a link, which would be replaced", at("link.xml"), /is there, but is not a regular file/],
        ["below a file", at("file.xml", "x", "junit.xml"), /file\.xml is not a folder/],
        ["without a name", "", /^--junit "": the name of a file is missing$/],
    ])("must not be %s", (_, path, mistake) => {
        expect(mistakesInOutputs({ "--junit": path })).toEqual([expect.stringMatching(mistake)]);
    });

    // Root may write to any folder that is not on a file system of the kernel.
    it.skipIf(process.getuid?.() === 0)("must not be in a folder that cannot be written to", () => {
        mkdirSync(at("locked"), { mode: 0o500 });
        expect(mistakesInOutputs({ "--junit": at("locked", "junit.xml") })).toEqual([
            expect.stringMatching(/nothing can be written to the folder .*locked \(EACCES\)/),
        ]);
    });

    it("must not be another one of them, and all mistakes are told at once", () => {
        expect(mistakesInOutputs({ "--junit": at("x"), "--summary": `${folder}/./x` })).toEqual([
            "--junit and --summary name the same file; name two",
        ]);
        expect(mistakesInOutputs({ "--junit": "", "--summary": at("folder.xml") })).toHaveLength(2);
    });
});

describe("a file that is replaced", () => {
    it("is whole, in a folder that is made for it, with nothing beside it", () => {
        replaceFile(at("made", "here", "a.txt"), "first");
        replaceFile(at("made", "here", "a.txt"), "second");
        expect(readFileSync(at("made", "here", "a.txt"), "utf8")).toBe("second");
        expect(readdirSync(at("made", "here"))).toEqual(["a.txt"]);
    });

    it("keeps its text if the new one cannot be written", () => {
        writeFileSync(at("kept.txt"), "kept");
        mkdirSync(at("kept.txt.unfinished"));
        expect(() => replaceFile(at("kept.txt"), "new")).toThrow(/EISDIR/);
        expect(readFileSync(at("kept.txt"), "utf8")).toBe("kept");
    });
});
