import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readKept, type Result, tableOf, treeOf, writeKept } from "../../networks/results";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "chaos-shop-unit-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const result: Result = {
    step: "calico, 1 node",
    commit: "abc",
    tree: "def",
    passed: 70,
    skipped: 2,
    failures: [],
    minutes: 6.25,
    at: "2026-01-01T00:00:00Z",
};

describe("the results of tests of networks", () => {
    it("are kept in a file, with what the sandbox is to have again", () => {
        const file = join(folder, "reports", "kept.json");
        expect(readKept(file)).toEqual({ results: [] });
        const before = { network: "kube-router", nodes: 1, ipFamilies: "ipv4", denied: "drop" } as const;
        writeKept(file, { results: [result], before });
        expect(readKept(file)).toEqual({ results: [result], before });
    });

    it("are shown as a table, with what failed below", () =>
        expect(tableOf([result, { ...result, step: "cilium, 1 node", failures: ["it timed out"] }])).toBe(
            [
                "step            passed  failed  skipped  minutes",
                "calico, 1 node  70      0       2        6.3",
                "cilium, 1 node  70      1       2        6.3",
                "",
                "cilium, 1 node: it timed out",
            ].join("\n"),
        ));

    it("count until a file changes, committed or not; ignored files and other pages do not matter", () => {
        const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, stdio: "ignore" });
        expect(treeOf(folder)).toBe("unknown");
        git("init");
        writeFileSync(join(folder, ".gitignore"), "reports\n");
        mkdirSync(join(folder, "docs"));
        for (const page of ["CHANGELOG.md", "docs/networks.md", "docs/ci.md"]) writeFileSync(join(folder, page), page);
        git("add", ".");
        git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--message=first");
        const first = treeOf(folder);
        writeFileSync(join(folder, "reports"), "ignored");
        for (const page of ["CHANGELOG.md", "docs/ci.md", "new.md"]) writeFileSync(join(folder, page), "changed");
        expect(treeOf(folder)).toBe(first);
        writeFileSync(join(folder, "docs", "networks.md"), "changed");
        const changed = treeOf(folder);
        expect(changed).not.toBe(first);
        writeFileSync(join(folder, "new.ts"), "new");
        const second = treeOf(folder);
        expect(second).not.toBe(changed);
        git("add", ".");
        git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--message=second");
        expect(treeOf(folder)).toBe(second);
    });
});
