import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { undoRun, wholeRun } from "../../../../chaos/cli/whole-run";
import { journalPath, writeJournal } from "../../../../chaos/report/journal-files";
import { journal } from "../report/support";

let reports: string;
let interrupted = false;
const updates: string[] = [];
beforeEach(() => {
    reports = mkdtempSync(join(tmpdir(), "reports-"));
    interrupted = false;
    updates.length = 0;
});
afterEach(() => rmSync(reports, { recursive: true }));

const interruption = {
    check: () => {
        if (interrupted) throw new Error("interrupted");
    },
    throughout: (work: () => Promise<void>) => work(),
};

const { experiment, run } = journal.plan;
const whole = (enable: () => void, disable: () => void = () => undefined) =>
    wholeRun({
        ...{ experiment, run, reports, interruption },
        enable: async () => {
            updates.push("enable");
            enable();
        },
        undo: (error) =>
            undoRun(
                async () => {
                    updates.push("disable");
                    disable();
                },
                interruption,
                () => undefined,
                error,
            ),
    });
const failing = (message: string) => () => {
    throw new Error(message);
};
const kept = (startedAt: number) => {
    const plan = { ...journal.plan, reports };
    const conclusion = { ...journal.conclusion, journal: journalPath(plan, "dev", startedAt) };
    writeJournal({ ...journal, plan, conclusion, startedAt });
};

it("a run is what its journal says, also if the verdict has failed its update", async () => {
    const { made, error } = await whole(() => {
        kept(Date.now());
        failing("FAILED: 0% of 15 requests succeeded")();
    });
    expect([made.journal?.plan.run, made.notUndone, error]).toEqual([run, undefined, expect.stringMatching(/^FAILED/)]);
    expect(updates).toEqual(["enable", "disable"]);
});

it.each([
    ["fails", failing("no such stack"), "no such stack"],
    ["leaves no journal", () => undefined, "it wrote no journal"],
    ["leaves only the journal of an earlier run", () => kept(1), "it wrote no journal"],
])("a run whose update %s is undone, and says why it has no verdict", async (_, enable, error) => {
    const { made } = await whole(enable);
    expect(made).toMatchObject({ experiment, run, error, notUndone: undefined });
    expect(made.journal).toBeUndefined();
    expect(updates).toEqual(["enable", "disable"]);
});

it("a run is not made after an interruption, and undone all the same", async () => {
    interrupted = true;
    expect((await whole(() => undefined)).made.error).toBe("interrupted");
    expect(updates).toEqual(["disable"]);
});

it("why a run could not be undone is said once if it failed for the same reason", async () => {
    const { made } = await whole(() => undefined, failing("the lock is held"));
    expect(made.notUndone).toBe("the lock is held");
    const both = await whole(failing("the lock is held"), failing("the lock is held"));
    expect(both.made.notUndone).toBe("Undoing it failed for the same reason");
});
