import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bundledFile } from "../../../toolchain/bundle";
import { isCurrent } from "../../../toolchain/bundle-cache";

let folder: string;
let bundle: string;
beforeEach(() => {
    folder = mkdtempSync(join(__dirname, "bundled-"));
    writeFileSync(join(folder, "word.ts"), 'export const word: string = "first";');
    writeFileSync(join(folder, "main.ts"), 'import { word } from "./word";\nconsole.log(word);');
    age("word.ts");
    age("main.ts");
    bundle = bundledFile(join(folder, "main.ts"));
});
afterEach(() => {
    for (const path of [folder, bundle, `${bundle}.hashes.json`]) rmSync(path, { recursive: true, force: true });
});

/** As if a file had been written an hour ago: one that changes during a build is read again. */
function age(file: string): void {
    const earlier = Date.now() / 1000 - 3_600;
    utimesSync(join(folder, file), earlier, earlier);
}

const output = () => execFileSync(process.execPath, [bundle], { encoding: "utf8", cwd: "/" }).trim();

it("a bundle is one file that runs by itself", () => {
    expect(output()).toBe("first");
});

it("a bundle is kept while its sources stay the same", () => {
    const { mtimeMs } = statSync(bundle);
    bundledFile(join(folder, "main.ts"));
    expect(statSync(bundle).mtimeMs).toBe(mtimeMs);
});

it("a bundle is made again when a file that it imports has changed, even if the file's time is older", () => {
    writeFileSync(join(folder, "word.ts"), 'export const word: string = "second";');
    age("word.ts");
    bundledFile(join(folder, "main.ts"));
    expect(output()).toBe("second");
});

it("a bundle lists its sources relative to the project, so a copied checkout does not use another's", () => {
    const sources = Object.keys(JSON.parse(readFileSync(`${bundle}.hashes.json`, "utf8")) as object);
    expect(sources.filter((source) => isAbsolute(source) || source.startsWith(".."))).toEqual([]);
    expect(sources.some((source) => source.endsWith("/word.ts"))).toBe(true);
});

it("a bundle is made again when the list of its sources cannot be read", () => {
    writeFileSync(`${bundle}.hashes.json`, "[");
    rmSync(join(folder, "word.ts"));
    writeFileSync(join(folder, "main.ts"), 'console.log("second");');
    bundledFile(join(folder, "main.ts"));
    expect(output()).toBe("second");
});

it("a bundle is made again if a source was changed while it was made", () => {
    writeFileSync(join(folder, "word.ts"), 'export const word: string = "second";');
    const inAWhile = Date.now() / 1000 + 60;
    utimesSync(join(folder, "word.ts"), inAWhile, inAWhile);
    bundledFile(join(folder, "main.ts"));
    expect(isCurrent(bundle)).toBe(false);
});

it("two processes may make the same bundle at once", async () => {
    rmSync(bundle);
    const program = 'require("./toolchain/bundle").bundledFile(process.argv[1])';
    const make = () =>
        promisify(execFile)(process.execPath, ["--import", "tsx", "--eval", program, join(folder, "main.ts")], {
            cwd: join(__dirname, "..", "..", ".."),
        });
    await Promise.all([make(), make()]);
    expect(output()).toBe("first");
});
