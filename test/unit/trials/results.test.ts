import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kinds } from "../../../test/trials/kinds";
import { appendResult, commitOf, keyOf, readResults } from "../../../test/trials/results";
import { schedule } from "../../../test/trials/schedule";
import { describeResult, markdownTable, textTable } from "../../../test/trials/table";
import { resultOf } from "./support";

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
    const planned = (rounds: number, done: string[] = []) =>
        schedule(kinds, ["drop", "reject"], rounds, new Set(done)).map(({ kind, denied, round }) => ({
            kind: kind.name,
            network: denied,
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
        const done = ["one-replica/drop/1", "policy-lifted/reject/2"];
        const keys = planned(2, done).map(keyOf);
        expect(keys).toHaveLength(kinds.length * 4 - 2);
        expect(keys.filter((key) => done.includes(key))).toEqual([]);
    });

    it("changes the network once, and the shop only where the next kinds need another", () => {
        const changes = (of: (trial: ReturnType<typeof planned>[number]) => unknown) => {
            const all = planned(8).map(of);
            return all.filter((value, index) => index > 0 && value !== all[index - 1]).length;
        };
        expect(changes(({ network }) => network)).toBe(1);
        // Alone or not, one replica, three; three without policies, and three behind the API server's proxy.
        expect(changes(({ network, alone, shape }) => `${network} ${alone} ${shape}`)).toBe(2 * 6 - 1);
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
                "policy-lifted/drop/2: PASSED instead of FAILED; left after 5 s: a, b",
            ].join("\n"),
        ));

    it("is one for a page, too", () =>
        expect(markdownTable(results).split("\n")).toEqual([
            "| kind | denied | trials | PASSED | FAILED | INCONCLUSIVE | ABORTED | none | wrong | left | median s |",
            "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            "| one-replica | drop | 2 |  | 2 |  |  |  |  |  | 18.0 |",
            "| policy-lifted | drop | 2 |  | 1 | 1 |  |  | 1 | 1 | 18.5 |",
            "| all |  | 4 |  | 3 | 1 |  |  | 1 | 1 | 18.0 |",
            "",
            "- policy-lifted/drop/2: PASSED instead of FAILED; left after 5 s: a, b",
        ]));

    it("says if there is nothing to show", () => expect(textTable([])).toBe("No results."));

    it("has a line for each trial", () => {
        for (const part of ["right", "round 1", "one-replica", "drop", "FAILED (expected: FAILED)", "17.0 s", "seed 1"])
            expect(describeResult(results[0]!)).toContain(part);
        expect(describeResult(results[3]!)).toMatch(/^WRONG .*\n +PASSED instead of FAILED; left after 5 s: a, b$/);
    });
});
