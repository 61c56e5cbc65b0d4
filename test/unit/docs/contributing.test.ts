import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, posix, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const project = resolve(__dirname, "..", "..", "..");
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: project,
    encoding: "utf8",
})
    .trim()
    .split("\n");
const textOf = (file: string) => readFileSync(join(project, file), "utf8");

/** Capitals stand for a name to choose, runs write reports, and a build writes `dist`. */
const isElsewhere = (name: string) => /\b[A-Z]{3,}\b|(?:^|\/)(?:reports|dist)\b/.test(name);
const isFile = (name: string) => /^[\w./-]+\.(?:cjs|html|js|json|jsonl|md|mts|svg|ts|yaml)$/.test(name);
const isFolder = (name: string) => /^[\w.-]+(?:\/[\w.-]+)*\/$/.test(name);

/** The files that a name means, which is that of a file or a folder, and may lack folders at its beginning. */
function meantBy(name: string): string[] {
    const parts = `/${posix.normalize(name)}`;
    return files.filter((file) => (isFolder(name) ? `/${file}`.includes(parts) : `/${file}`.endsWith(parts)));
}

const sources = files.filter((file) => /\.(?:js|mts|ts)$/.test(file));
const words = new Set(sources.flatMap((file) => textOf(file).match(/[A-Za-z_]\w*/g) ?? []));
const hasWord = (file: string, word: string) => new RegExp(`\\b${word}\\b`).test(textOf(file));

/** Such as `giveBack()`, `PlanArgs` or `isTrial`: words in small letters may be of something else. */
const nameIn = (code: string) => /^([A-Za-z]\w*)(?:\(.*\))?$/.exec(code)?.[1];
const isName = (code: string) => nameIn(code) !== undefined && (code.endsWith(")") || /[a-z][A-Z]/.test(code));
/** The interface of step 1 of "Add a kind". */
const toWrite = ["NameAttack"];

describe.each(["CONTRIBUTING.md", "chaos/CONTRIBUTING.md"])("%s", (page) => {
    const text = textOf(page).replace(/\s+/g, " ");
    const code = [...text.matchAll(/`([^`]+)`/g)].map(([, one]) => one!).filter((one) => !isElsewhere(one));

    it("names files and folders that exist", () => {
        const named = code.filter((one) => isFile(one) || isFolder(one));
        expect(named.length).toBeGreaterThan(25);
        expect(named.filter((one) => meantBy(one).length === 0)).toEqual([]);
    });

    it("names functions, types and fields that exist", () => {
        const named = code.filter(isName).map((one) => nameIn(one)!);
        expect(named.length).toBeGreaterThan(10);
        expect(named.filter((one) => !words.has(one) && !toWrite.includes(one))).toEqual([]);
    });

    it("names them in files that have them, as in `order` in `end.ts`", () => {
        const named = [...text.matchAll(/`(\w+)(?:\(\))?`(?: and `(\w+)(?:\(\))?`)? (?:in|of) `([^`]+)`/g)];
        const said = named.flatMap(([, one, other, file]) => [one!, other ?? []].flat().map((word) => [word, file!]));
        const known = said.filter(([, file]) => isFile(file!) && !isElsewhere(file!));
        expect(known.length).toBeGreaterThan(2);
        const wrong = known.filter(([word, file]) => !meantBy(file!).some((one) => hasWord(one, word!)));
        expect(wrong).toEqual([]);
    });
});
