import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { alignedRows } from "../../chaos/values/aligned";
import type { Choices } from "../../sandbox/node/choices";

/** What the tests of one step gave. */
export interface Result {
    /** Its name, such as `kube-router, reject, 2 nodes`. */
    step: string;
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

/** Pages do not count, except for the one that tests read. */
const untested = ["*.md", ":!docs/networks.md"];

/**
 * A hash of all files of a repository that tests of networks depend on, as they are now: also of those that are not
 * committed, but not of ignored ones. `unknown` without git.
 */
export function treeOf(folder: string): string {
    const scratch = mkdtempSync(join(tmpdir(), "chaos-shop-tree-"));
    const env = { ...process.env, GIT_INDEX_FILE: join(scratch, "index") };
    const git = (...args: string[]) =>
        execFileSync("git", args, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    try {
        git("read-tree", "HEAD");
        git("add", "--all");
        git("rm", "-r", "--quiet", "--cached", "--ignore-unmatch", "--", ...untested);
        return git("write-tree");
    } catch {
        return "unknown";
    } finally {
        rmSync(scratch, { recursive: true, force: true });
    }
}

/** A row for each step, and below it what failed. */
export function tableOf(results: readonly Result[]): string {
    const heads = ["step", "passed", "failed", "skipped", "minutes"];
    const rows = results.map(({ step, passed, failures, skipped, minutes }) =>
        [step, passed, failures.length, skipped, minutes.toFixed(1)].map(String),
    );
    const failures = results.flatMap(({ step, failures }) => failures.map((text) => `${step}: ${text}`));
    return [...alignedRows([heads, ...rows]), ...failures.map((text) => `\n${text}`)].join("\n");
}
