import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { load } from "js-yaml";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { project } from "../../../toolchain/bundle-cache";

/** Runs JavaScript in a project's folder. @returns what it prints */
const run = (folder: string, script: string) =>
    execFileSync(process.execPath, ["--eval", script], { cwd: folder, encoding: "utf8" }).trim();

const started = 'require("./toolchain/start-program.js")';

it("Pulumi starts the program of index.ts, with the repository as its working folder", () => {
    const { main } = load(readFileSync(join(project, "Pulumi.yaml"), "utf8")) as { main?: string };
    expect(main).toBeUndefined();
    expect(run(project, "console.log(typeof require('./'))")).toBe("function");
});

it("the program of index.ts runs from a bundle", () => {
    const loaded = "Object.keys(require.cache).some((file) => file.endsWith('/index-ts-program.js'))";
    expect(run(project, `${started}; console.log(${loaded})`)).toBe("true");
});

it("what the SDK loads for resources that are functions is not loaded, until something uses it", () => {
    const loaded = 'Object.keys(require.cache).some((file) => file.endsWith("/typescript.js"))';
    const both = `${started}; const before = ${loaded}; require("typescript").version; console.log(before, ${loaded})`;
    expect(run(project, both)).toBe("false true");
});

describe("a program", () => {
    let folder: string;
    const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
    const said = () => run(folder, `${started}.say()`);
    beforeEach(() => {
        folder = mkdtempSync(join(tmpdir(), "chaos-shop-program-"));
        for (const path of ["toolchain", "chaos/pods/packed.ts"])
            cpSync(join(project, path), join(folder, path), { recursive: true });
        for (const path of ["node_modules", "experiments/saved"]) mkdirSync(join(folder, path), { recursive: true });
        for (const name of ["esbuild", "@esbuild", "tsx", "get-tsconfig", "resolve-pkg-maps"])
            symlinkSync(join(project, "node_modules", name), join(folder, "node_modules", name));
        write("Pulumi.yaml", "");
        write("word.ts", 'export const word: string = "first";');
        write("experiments/saved/one.ts", "export default 1;");
        write(
            "index.ts",
            'import { word } from "./word";\n' +
                "const saved = (name: string) => require(`./experiments/saved/${name}.ts`).default as number;\n" +
                "export const say = () => console.log(word, saved(process.env.SAVED ?? 'one'));",
        );
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    it("is bundled anew when a source has changed", () => {
        expect(said()).toBe("first 1");
        write("word.ts", 'export const word: string = "second";');
        expect(said()).toBe("second 1");
    });

    it("is bundled anew when an experiment was added", () => {
        expect(said()).toBe("first 1");
        write("experiments/saved/two.ts", "export default 2;");
        process.env.SAVED = "two";
        expect(said()).toBe("first 2");
        delete process.env.SAVED;
    });

    it("finds its files from where its sources are", () => {
        mkdirSync(join(folder, "words"));
        write("words/word.ts", "export const word = require('node:fs').readFileSync(`${__dirname}/word.txt`, 'utf8');");
        write("words/word.txt", "third");
        write(
            "index.ts",
            'import { word } from "./words/word";\nexport const say = () => console.log(word, __dirname);',
        );
        expect(said()).toBe(`third ${folder}`);
    });

    it("finds its files also by import.meta", () => {
        mkdirSync(join(folder, "words"));
        write("words/word.ts", "export const word = [import.meta.url, import.meta.dirname].join(' ');");
        write("index.ts", 'import { word } from "./words/word";\nexport const say = () => console.log(word);');
        expect(said()).toBe(`${pathToFileURL(join(folder, "words", "word.ts")).href} ${join(folder, "words")}`);
    });

    it("of another checkout is not loaded, though the two share their packages", () => {
        expect(said()).toBe("first 1");
        const other = `${folder}-other`;
        try {
            cpSync(folder, other, { recursive: true, filter: (path) => !path.endsWith("node_modules") });
            symlinkSync(join(folder, "node_modules"), join(other, "node_modules"));
            const place = "export const say = () => console.log(__dirname);";
            for (const one of [folder, other]) writeFileSync(join(one, "index.ts"), place);
            expect(said()).toBe(folder);
            expect(run(other, `${started}.say()`)).toBe(other);
        } finally {
            rmSync(other, { recursive: true, force: true });
        }
    });

    it("runs if an experiment that it does not use does not compile", () => {
        write("experiments/saved/broken.ts", "export default {");
        expect(said()).toBe("first 1");
    });
});
