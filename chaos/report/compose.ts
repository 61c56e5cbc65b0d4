import { join } from "node:path";
import type { Performed } from "../actions/perform";
import type { Aborted } from "../checks/abort";
import type { Observed } from "../checks/observe";
import type { Plan } from "../definition/plan";
import type { InconclusiveReason, Proven } from "../proof/outcome";
import { percentOf } from "../share";
import type { Chosen } from "../targets/choose";
import type { Conclusion, Journal } from "./journal";
import { judge, judgeAborted, judgeCheck, type Measured, together } from "./verdict";

/** What was seen in the window. */
export interface Seen {
    checks: Observed[];
    actions: Performed[];
    /** Why no verdict can be given. */
    inconclusive?: InconclusiveReason;
    /** Set if an abort rule ended the window. */
    aborted?: Aborted;
}

interface Found {
    startedAt: number;
    /** In the order of the plan's attacks. */
    chosen: Chosen[];
    /** Since when each attack works. Absent if one is not proven. */
    proven?: readonly Proven[];
    seen: Seen;
    kills: Journal["attacks"][number]["kills"][];
    readiness: Journal["readiness"];
}

/** The journal of a run that has ended, with its verdict. */
export function journalOf(plan: Plan, { startedAt, chosen, proven, seen, kills, readiness }: Found): Journal {
    const attackedAt = proven && Math.max(...proven.map((one) => one.attackedAt));
    const { graceMs } = plan.window;
    const { aborted } = seen;
    const judged = plan.checks.map((planned, index) => {
        const { answers } = seen.checks[index]!;
        const one = judgeCheck(planned, answers, attackedAt ?? startedAt, graceMs);
        return aborted?.check === planned.name ? judgeAborted(planned, answers, one, aborted) : one;
    });
    const measured = together(judged.map((one) => one.measured));
    const { verdict, reason } = judge(
        // The reason is the abort, whatever other checks have seen by then.
        judged.filter(({ name }) => aborted === undefined || name === aborted.check),
        seen.inconclusive,
    );
    const known = verdict === "INCONCLUSIVE" ? [] : judged.filter((one) => one.inconclusive === undefined);
    const done = seen.actions.filter(({ problem }) => problem === undefined);
    return {
        schema: 3,
        plan,
        conclusion: conclude(plan, startedAt, {
            attack: [...new Set(plan.attacks.map(({ attack }) => attack.kind))].join(","),
            targets: chosen.flatMap(({ targets }) =>
                targets.map(({ namespace, pod, container }) => `${namespace}/${pod}/${container}`),
            ),
            verdict,
            reason,
            requests: measured.requests,
            successRate: successRateOf(measured),
            timeToFirstFailureMs: measured.firstFailureMs ?? null,
            timeToStabilityMs: measured.stableAfterMs ?? null,
            checks: known.map(checkConclusion),
            actions: done.map(({ action }) => action),
        }),
        startedAt,
        attackedAt,
        ...(aborted && { aborted }),
        endedAt: Date.now(),
        attacks: plan.attacks.map(({ name }, index) => ({
            name,
            provenAt: proven?.[index]!.attackedAt,
            targets: chosen[index]!.targets,
            kills: kills[index],
        })),
        checks: seen.checks,
        actions: seen.actions,
        readiness,
    };
}

const successRateOf = ({ good, counted }: Measured) => percentOf(good, counted);

function checkConclusion({ name, held, measured }: ReturnType<typeof judgeCheck>) {
    return { name, held, requests: measured.requests, successRate: successRateOf(measured) };
}

/** The journal of a run without a steady state, which attacked nothing. */
export function abortedJournal(plan: Plan, reason: string, startedAt: number, checks: Observed[]): Journal {
    return {
        schema: 3,
        plan,
        conclusion: conclude(plan, startedAt, {
            attack: "none",
            targets: [],
            verdict: "ABORTED",
            reason: `Aborted: ${reason}`,
            requests: checks.flatMap(({ answers }) => answers).length,
            successRate: "0%",
            timeToFirstFailureMs: null,
            timeToStabilityMs: null,
            checks: [],
            actions: [],
        }),
        startedAt,
        endedAt: Date.now(),
        attacks: [],
        checks,
        actions: [],
        readiness: [],
    };
}

/** A conclusion with the name, the hypothesis and the journal that the plan gives it. */
function conclude(
    plan: Plan,
    startedAt: number,
    found: Omit<Conclusion, "name" | "run" | "hypothesis" | "journal">,
): Conclusion {
    const { experiment: name, run, hypothesis } = plan;
    return { name, run, hypothesis, ...found, journal: journalPath(plan, startedAt) };
}

/** Path of a run's journal: `reports/hot-deals-blackhole-1-20261121T101500Z.json`. */
function journalPath({ experiment, run, reports }: Plan, startedAt: number): string {
    const time = new Date(startedAt).toISOString().replace(/[-:]|\.\d+/g, "");
    const readableRun = run.replace(/[^\w.-]+/g, "-").slice(0, 40);
    return join(reports, `${experiment}-${readableRun}-${time}.json`);
}
