import { expect, it } from "vitest";
import { journalOf } from "../../../../chaos/report/compose";
import type { Conclusion } from "../../../../chaos/report/conclusion";
import { journalSchema } from "../../../../chaos/report/journal-schema";
import { reason } from "../../../../chaos/values/reasons";
import { journal } from "./support";

/** The conclusion of a run whose attack has counted this. */
function conclusionWith(counts?: object, changes: object = {}): Conclusion {
    const { plan, checks, startedAt, attackedAt } = journal;
    const attacks = plan.attacks.map((planned, index) => ({
        ...planned,
        chosen: { targets: journal.attacks[index]!.targets },
        proven: { attackedAt },
        counts: index === 0 ? counts : undefined,
    }));
    const seen = { checks, actions: [], reasons: [], ...changes };
    const found = { stack: "s", startedAt, before: [], attacks, seen, isEnded: true, readiness: [] };
    return journalSchema.parse(JSON.parse(JSON.stringify(journalOf(plan, found as never)))).conclusion;
}
const reasonWith = (counts?: object) => conclusionWith(counts).reason;

it("each check of requests has what they show, unless no verdict is possible or the run was ended early", () => {
    const bounds = (changes?: object) => conclusionWith(undefined, changes).checks.map(({ bound }) => bound);
    expect(bounds()).toEqual([{ level: "95%", atLeast: "80.7%", answers: 14 }, undefined, undefined]);
    expect(bounds({ reasons: [reason("clock-shift", "it slept")] })).toEqual([]);
    const aborted = { check: "/products", afterMs: 1, rate: "0%", answers: 2, below: "50%", overMs: 1_000 };
    expect(bounds({ aborted })).toEqual([undefined, undefined, undefined]);
});

it("a check of which nothing is known leaves the others known", () => {
    const [first] = journal.checks;
    const answers = first!.answers.map((one) => ({ ...one, good: false, unseen: true }));
    const { verdict, code, checks } = conclusionWith(undefined, {
        checks: [{ ...first!, answers }, ...journal.checks.slice(1)],
    });
    expect({ verdict, code }).toEqual({ verdict: "INCONCLUSIVE", code: "application-not-seen" });
    expect(checks.map(({ name, held }) => ({ name, held }))).toEqual(
        journal.checks.slice(1).map(({ name }) => ({ name, held: true })),
    );
});

it("a verdict says what its attack has hit, and whether a check met it", () => {
    const without = reasonWith(undefined);
    const name = journal.plan.attacks[0]!.name;
    const told = name.charAt(0).toUpperCase() + name.slice(1);
    const counts = { requests: 745, faulted: 6, unfaultable: 0 };
    expect(reasonWith(counts)).toBe(
        `${without} ${told} hit 6 of 745 requests of all callers in the window; whether one that a check caused was ` +
            "among them is not known.",
    );
    expect(reasonWith({ ...counts, ofChecks: 30, ofChecksFaulted: 2 })).toBe(
        `${without} ${told} hit 2 of 30 requests that the checks caused, and 6 of 745 requests of all callers, ` +
            "in the window.",
    );
});
