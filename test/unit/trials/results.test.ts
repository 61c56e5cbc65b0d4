import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kinds } from "../../../test/trials/kinds";
import { appendResult, commitOf, keyOf, readResults, type Result } from "../../../test/trials/results";
import { schedule } from "../../../test/trials/schedule";
import { markdownTable, textTable } from "../../../test/trials/table";

/** A right result, with some changes. */
function resultOf(changes: Partial<Result> = {}): Result {
    return {
        seed: "1",
        commit: "84e68c1",
        kind: "one-replica",
        network: "kube-router",
        nodes: 1,
        denied: "drop",
        round: 1,
        outcome: "FAILED",
        reason: "0% of 16 requests to /products succeeded",
        saw: "",
        problems: [],
        leftovers: [],
        expected: "FAILED",
        seconds: 17,
        at: "2026-11-23T12:00:00.000Z",
        ...changes,
    };
}

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "trials-"))));
afterAll(() => rmSync(folder, { recursive: true }));

describe("the results' file", () => {
    it("is read as it was written, without a line that was cut off", () => {
        const file = join(folder, "reports", "trials.jsonl");
        expect(readResults(file)).toEqual([]);
        const results = [resultOf(), resultOf({ round: 2, problems: ["PASSED instead of FAILED"] })];
        for (const result of results) appendResult(file, result);
        appendFileSync(file, '{"seed":"1","comm');
        expect(readResults(file)).toEqual(results);
    });

    it("names the commit, and whether files differ from it", () => {
        expect(commitOf(folder)).toBe("unknown");
        const git = (...args: string[]) =>
            execFileSync("git", ["-c", "user.name=a", "-c", "user.email=b", ...args], {
                cwd: folder,
                encoding: "utf8",
            });
        git("init", "--quiet");
        git("add", "--all");
        git("commit", "--quiet", "--message", "all");
        const commit = git("rev-parse", "--short=12", "HEAD").trim();
        expect(commitOf(folder)).toBe(commit);
        writeFileSync(join(folder, "new"), "");
        expect(commitOf(folder)).toBe(`${commit}-changed`);
    });
});

describe("the schedule", () => {
    const place = { network: "kube-router", nodes: 1 } as const;
    const planned = (rounds: number, done: string[] = []) =>
        schedule(kinds, place, ["drop", "reject"], rounds, new Set(done)).map(({ kind, denied, round }) => ({
            kind: kind.name,
            ...place,
            denied,
            round,
            alone: kind.alone ?? false,
            shape: JSON.stringify(kind.shape),
        }));

    it("has each kind with dropped and with rejected traffic in each round, once", () => {
        const keys = planned(3).map(keyOf);
        expect(keys).toHaveLength(kinds.length * 2 * 3);
        expect(new Set(keys).size).toBe(keys.length);
    });

    it("skips what is done", () => {
        const done = ["one-replica/kube-router/drop/1", "policy-lifted/kube-router/reject/2"];
        const keys = planned(2, done).map(keyOf);
        expect(keys).toHaveLength(kinds.length * 4 - 2);
        expect(keys.filter((key) => done.includes(key))).toEqual([]);
    });

    it("changes what the network does once, and the shop only where the next kinds need another", () => {
        const changes = (of: (trial: ReturnType<typeof planned>[number]) => unknown) => {
            const all = planned(8).map(of);
            return all.filter((value, index) => index > 0 && value !== all[index - 1]).length;
        };
        expect(changes(({ denied }) => denied)).toBe(1);
        // Alone or not, one replica, three; three without policies, here and there, and behind the API server's proxy.
        expect(changes(({ denied, alone, shape }) => `${denied} ${alone} ${shape}`)).toBe(2 * 7 - 1);
    });
});

describe("the table", () => {
    const results = [
        resultOf(),
        resultOf({ round: 2, seconds: 19 }),
        resultOf({ kind: "policy-lifted", outcome: "INCONCLUSIVE", seconds: 20 }),
        resultOf({ kind: "policy-lifted", round: 2, problems: ["PASSED instead\n of FAILED"], leftovers: ["a", "b"] }),
    ];

    it("counts verdicts for each kind and --denied, and tells below what was wrong", () =>
        expect(textTable(results)).toBe(
            [
                "kind           denied  trials  PASSED  FAILED  INCONCLUSIVE  ABORTED  none  wrong  left  median s",
                "one-replica    drop         2               2                                                18.0",
                "policy-lifted  drop         2               1             1                     1     1      18.5",
                "all                         4               3             1                     1     1      18.0",
                "",
                "policy-lifted/kube-router/drop/2: PASSED instead of FAILED; left after 5 s: a, b",
            ].join("\n"),
        ));

    it("has for a page a column for each network, and what it did with denied traffic", () =>
        expect(
            markdownTable([...results, resultOf({ network: "calico", nodes: 2, outcome: "ABORTED" })]).split("\n"),
        ).toEqual([
            "| kind | calico, 2 nodes, drop | kube-router, drop |",
            "| --- | --- | --- |",
            "| one-replica | 1 ABORTED | 2 FAILED |",
            "| policy-lifted |  | 1 FAILED, 1 INCONCLUSIVE, 1 wrong, 1 left |",
            "| all | 1 right | 3 right, 1 wrong, 1 left |",
            "| median s | 17.0 | 18.0 |",
            "| commit | 84e68c1 | 84e68c1 |",
            "",
            "- policy-lifted/kube-router/drop/2: PASSED instead of FAILED; left after 5 s: a, b",
        ]));

    it("has for a page only results of the last commit that was tried on a network", () => {
        const before = resultOf({ network: "cilium", commit: "0000000" });
        const table = markdownTable([before, resultOf(), { ...before, commit: "1111111", seconds: 21 }]);
        expect(table).toContain(
            "| all | 1 right | 1 right |\n| median s | 21.0 | 17.0 |\n| commit | 1111111 | 84e68c1 |",
        );
    });
});
