import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { installStandIns } from "../../../toolchain/pulumi/stand-ins";
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
