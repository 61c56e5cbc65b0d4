import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { installStandIns } from "../../../toolchain/pulumi/stand-ins";
import { parseRuntimeOptions, splitWords } from "../../../toolchain/pulumi/language-host/options";
import { requiredPackages } from "../../../toolchain/pulumi/language-host/packages";
import { temporaryFolder } from "../../support/pulumi-plugin";

let folder: ReturnType<typeof temporaryFolder>;

beforeEach(() => {
    folder = temporaryFolder();
});

afterEach(() => folder.remove());

function write(path: string, content: string): string {
    const file = join(folder.path, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
}

describe("installStandIns", () => {
    const host = "versions/3.232.0/bin/pulumi-language-nodejs";
    const provider = "plugins/resource-command-v1.2.1/pulumi-resource-command";

    test("never touches an official plugin", async () => {
        const official = write(provider, "\x7fELF");
        await installStandIns(folder.path);
        expect(readFileSync(official, "latin1")).toBe("\x7fELF");
        expect(statSync(join(folder.path, host)).mode & 0o777).toBe(0o755);
    });

    test("replaces an outdated stand-in, and leaves a current one alone", async () => {
        await installStandIns(folder.path);
        const made = readFileSync(join(folder.path, host), "utf8");
        writeFileSync(join(folder.path, host), `${made}\n// older`);
        chmodSync(join(folder.path, host), 0o644);
        const untouched = statSync(join(folder.path, provider)).mtimeMs;
        await installStandIns(folder.path);
        expect(readFileSync(join(folder.path, host), "utf8")).toBe(made);
        expect(statSync(join(folder.path, host)).mode & 0o777).toBe(0o755);
        expect(statSync(join(folder.path, provider)).mtimeMs).toBe(untouched);
    });

    test("writes no path of this machine into a stand-in", async () => {
        await installStandIns(folder.path);
        expect(readFileSync(join(folder.path, host), "utf8")).not.toContain(process.cwd());
    });
});

describe("splitWords", () => {
    test.each([
        ["--require ./begin.js", ["--require", "./begin.js"]],
        ["  --a   --b  ", ["--a", "--b"]],
        [`--require './with space.js' "say \\"hi\\""`, ["--require", "./with space.js", 'say "hi"']],
        ["a\\ b", ["a b"]],
        ["''", [""]],
        ["", []],
    ])("%j", (line, words) => expect(splitWords(line)).toEqual(words));

    test("quotes a line with an open quote in its error", () => expect(() => splitWords("--a 'b")).toThrow("--a 'b"));
});

test("runtime options default to the official host's", () => {
    expect(parseRuntimeOptions({})).toMatchObject({ typescript: true, nodeargs: [] });
});

describe("requiredPackages", () => {
    const manifest = (name: string, pulumi?: object) => JSON.stringify({ name, version: "1.0.0", pulumi });

    test("finds scoped, plain and nested packages, but not those of a policy pack", () => {
        write("node_modules/@pulumi/one/package.json", manifest("@pulumi/one", { resource: true }));
        write("node_modules/two/package.json", manifest("two", { resource: true, name: "deux", version: "2.0.0" }));
        write(
            "node_modules/two/node_modules/@x/three/package.json",
            manifest("@x/three", { resource: true, name: "three" }),
        );
        write("services/it/node_modules/@pulumi/four/package.json", manifest("@pulumi/four", { resource: true }));
        write("node_modules/plain/package.json", manifest("plain"));
        write("node_modules/broken/package.json", "{");
        write("policy/PulumiPolicy.yaml", "");
        write("policy/node_modules/@pulumi/five/package.json", manifest("@pulumi/five", { resource: true }));
        const found = requiredPackages(folder.path).map(({ name, version }) => `${name} ${version}`);
        expect(found.sort()).toEqual(["deux v2.0.0", "four v1.0.0", "one v1.0.0", "three v1.0.0"]);
    });
});
