import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { alignedRows } from "../../cli/print";
import type { Choices } from "../../sandbox/node/choices";

/** The tests of one setting. */
export interface Result {
    /** Its name; see `nameOf`. */
    setting: string;
    /** What was tested: the checked-out commit, for people. */
    commit: string;
    /** What was tested, with all changes: see {@link treeOf}. */
    tree: string;
    passed: number;
    skipped: number;
    /** One text each. */
    failures: string[];
    minutes: number;
    /** When it ended: ISO 8601. */
    at: string;
}

/** What reports/test-networks.json has. */
export interface Kept {
    results: Result[];
    /** What the sandbox is to have again. Absent once it has. */
    before?: Choices;
}

export function readKept(file: string): Kept {
    try {
        return JSON.parse(readFileSync(file, "utf8")) as Kept;
    } catch {
        return { results: [] };
    }
}

/** Never leaves a half of it, also if this process is killed. */
export function writeKept(file: string, kept: Kept): void {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.new`, JSON.stringify(kept, undefined, 2));
    renameSync(`${file}.new`, file);
}

/**
 * A hash of all files of a repository as they are now, also of those that are not committed, but not of ignored ones.
 * `unknown` without git.
 */
export function treeOf(folder: string): string {
    const scratch = mkdtempSync(join(tmpdir(), "chaos-shop-tree-"));
    const env = { ...process.env, GIT_INDEX_FILE: join(scratch, "index") };
    const git = (...args: string[]) =>
        execFileSync("git", args, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    try {
        git("read-tree", "HEAD");
        git("add", "--all");
        return git("write-tree");
    } catch {
        return "unknown";
    } finally {
        rmSync(scratch, { recursive: true, force: true });
    }
}

/** A row for each setting, and below it what failed. */
export function tableOf(results: readonly Result[]): string {
    const heads = ["setting", "passed", "failed", "skipped", "minutes"];
    const rows = results.map(({ setting, passed, failures, skipped, minutes }) =>
        [setting, passed, failures.length, skipped, minutes.toFixed(1)].map(String),
    );
    const failures = results.flatMap(({ setting, failures }) => failures.map((text) => `${setting}: ${text}`));
    return [...alignedRows([heads, ...rows]), ...failures.map((text) => `\n${text}`)].join("\n");
}
