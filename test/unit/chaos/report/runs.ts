import type { Conclusion } from "../../../../chaos/report/conclusion";
import type { Journal } from "../../../../chaos/report/journal-schema";
import { type ReportedRun, runOfJournal } from "../../../../chaos/report/reported-run";
import { journal } from "./support";

/** A run like the kept one, which passed, with another conclusion. */
export const runWith = (conclusion: Partial<Conclusion>, changes: Partial<Journal> = {}): ReportedRun =>
    runOfJournal({ ...journal, ...changes, conclusion: { ...journal.conclusion, ...conclusion } });

export const passed = runWith({});
/** The same with its first check alone, and what that shows. */
export const bounded = runWith(
    { checks: [{ ...journal.conclusion.checks[0]!, bound: { level: "95%", atLeast: "80.7%", answers: 14 } }] },
    { plan: { ...journal.plan, checks: journal.plan.checks.slice(0, 1) }, checks: journal.checks.slice(0, 1) },
);
export const failed = runWith({
    name: "hot-deals-blackhole",
    verdict: "FAILED",
    reason: "0% of 15 requests to /products succeeded under attack (required: 100%); last failure: status 502.",
    successRate: "0%",
    timeToStabilityMs: null,
    checks: journal.conclusion.checks.map((check, index) => ({ ...check, held: index > 0 })),
});
export const inconclusive = runWith({
    name: "gateway-dns-loss",
    verdict: "INCONCLUSIVE",
    code: "attack-not-proven",
    reason: "the NetworkPolicy exists, but a DNS lookup in the targets still works.",
    checks: [],
});
export const aborted = runWith(
    {
        name: "orders-kill",
        verdict: "ABORTED",
        code: "no-steady-state",
        reason: "there is no steady state: pods: 0 ready.",
        targets: [],
        checks: [],
    },
    { attacks: [], attackedAt: undefined, recovery: undefined },
);
/** A run that ended without a verdict. */
export const broken: ReportedRun = {
    experiment: "hot-deals-kill",
    error: "update failed:\nthe API server refuses connections",
    startedAt: journal.startedAt,
    durationMs: 12_345,
};
