import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bundledFile } from "../../../toolchain/bundle";
import { isCurrent } from "../../../toolchain/bundle-cache";

let folder: string;
let bundle: string;
beforeEach(async () => {
    folder = mkdtempSync(join(__dirname, "bundled-"));
    writeFileSync(join(folder, "word.ts"), 'export const word: string = "first";');
    writeFileSync(join(folder, "main.ts"), 'import { word } from "./word";\nconsole.log(word);');
    await rest();
    bundle = bundledFile(join(folder, "main.ts"));
});
afterEach(() => {
    for (const path of [folder, bundle, `${bundle}.hashes.json`]) rmSync(path, { recursive: true, force: true });
});

/** A file that changes shortly before a build, or during it, is read again. */
const rest = () => sleep(100);

function date(file: string, secondsFromNow: number): void {
    const at = Date.now() / 1000 + secondsFromNow;
    utimesSync(join(folder, file), at, at);
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
    date("word.ts", -3_600);
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
    bundledFile(join(folder, "main.ts"));
    expect(isCurrent(bundle)).toBe(false);
});

it("a bundle is kept if a source is dated in the future", async () => {
    writeFileSync(join(folder, "word.ts"), 'export const word: string = "second";');
    date("word.ts", 3_600);
    await rest();
    bundledFile(join(folder, "main.ts"));
    expect(isCurrent(bundle)).toBe(true);
});

it("a bundle is made again if an import finds another file", async () => {
    writeFileSync(join(folder, "word.tsx"), 'export const word: string = "second";');
    await rest();
    bundledFile(join(folder, "main.ts"));
    expect(output()).toBe("second");
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
