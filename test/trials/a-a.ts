/**
 * Runs without an attack, whose answers before and after are compared: a limit that is exceeded in one is an alarm
 * without a cause. Each run takes the steps that an update takes, without Pulumi between them.
 */
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Cluster } from "../../chaos/cluster/client";
import { plainError } from "../../chaos/cli/plain-error";
import { type Plan, planOf } from "../../chaos/definition/plan";
import { describeLimit, outcomesOf } from "../../chaos/kinds/checks/change-limits";
import type { ServiceReference } from "../../chaos/kinds/checks/service";
import { lastJournalOf } from "../../chaos/report/journal-files";
import { check } from "../../chaos/run/check";
import { nothingAttacked, type StepContext } from "../../chaos/run/contract";
import { recovery } from "../../chaos/run/recovery";
import { steadyState } from "../../chaos/run/steady-state";
import { alignedRows } from "../../chaos/values/aligned";
import { groupedBy } from "../../chaos/values/grouped";
import { describeBound, interval } from "../../chaos/values/bound";
import { baselineFault, type ChangeLimit, changeOf, type Outcome } from "../../chaos/values/compared";
import { productsCheck } from "../../experiments/products";

/** A run, as a line of the results' file. */
export interface Compared {
    commit: string;
    /** When it ended: ISO 8601. */
    at: string;
    before: Outcome[];
    during: Outcome[];
    /** Why nothing was compared, as the update would say it. Absent if something was. */
    aborted?: string;
}

/** Short, so that many runs can be done; with more answers than p95 takes. */
const lengthMs = 6_000;
const perSecond = 40;

/** Without a change, a limit of 1x or of no time more is exceeded as often as the level allows at most. */
const limits: readonly ChangeLimit[] = [
    ...(["p50", "p95"] as const).flatMap((of) => [
        ...[1, 1.5, 2].map((atMostTimes) => ({ of, atMostTimes })),
        { of, atMostMoreMs: 20 },
    ]),
    { of: "successRate", atMostLess: 0.05 },
];

function planFor(service: ServiceReference, run: number, reports: string): Plan {
    return planOf({
        definition: {
            hypothesis: "Without an attack, nothing changes.",
            // An unsteady latency does not end a run with this limit: all limits are compared afterwards.
            checks: [{ ...productsCheck, perSecond, successRate: { dropAtMost: "5%" } }],
        },
        name: "a-a",
        run: String(run),
        area: service.namespace,
        clusterName: "sandbox",
        defaultNamespace: service.namespace,
        service,
        defaultChecks: [],
        intervalMs: 1_000,
        timeoutMs: 5_000,
        // A bad answer is no reason to end the run: it is compared, too.
        successRate: 0.5,
        durationMs: lengthMs,
        baselineMs: lengthMs,
        graceMs: 0,
        onFailure: "report",
        reports,
    });
}

/** Does one run on a shop. @param service the gateway's */
export async function compareOnce(
    cluster: Cluster,
    service: ServiceReference,
    run: number,
): Promise<Omit<Compared, "commit">> {
    const reports = mkdtempSync(join(tmpdir(), "chaos-shop-a-a-"));
    // As a step gets it.
    const plan = JSON.parse(JSON.stringify(planFor(service, run, reports))) as Plan;
    const context: StepContext = { plan, cluster, stack: "a-a/0123456789abcdef", say: () => undefined };
    try {
        const seen = await steadyState(context, {});
        await check(context, { steadyState: seen, ...nothingAttacked });
        await recovery(context, {});
        const { checks } = lastJournalOf(plan, context.stack)!;
        const during = outcomesOf(checks[0]!.answers);
        return { at: new Date().toISOString(), before: seen.baseline![0]!.outcomes, during };
    } catch (error) {
        return { at: new Date().toISOString(), before: [], during: [], aborted: plainError(error).split("\n")[0]! };
    } finally {
        rmSync(reports, { recursive: true, force: true });
    }
}

export function appendCompared(file: string, compared: Compared): void {
    mkdirSync(dirname(file), { recursive: true });
    appendFileSync(file, `${JSON.stringify(compared)}\n`);
}

/** All runs of a commit. Leaves out a line that a killed program did not finish. */
export function readCompared(file: string, commit: string): Compared[] {
    if (!existsSync(file)) return [];
    return readFileSync(file, "utf8")
        .split("\n")
        .flatMap((line) => {
            try {
                return [JSON.parse(line) as Compared];
            } catch {
                return [];
            }
        })
        .filter((one) => one.commit === commit);
}

/** How often each limit alarmed, as a table. The last column counts as alarms what two numbers alone would show. */
export function describeAlarms(all: readonly Compared[]): string {
    const runs = all.filter(({ aborted }) => aborted === undefined);
    const rows = limits.map((limit) => {
        const steady = runs.filter(({ before }) => baselineFault(before, limit) === undefined);
        const changes = steady.map(({ before, during }) => changeOf(before, during, limit));
        const count = (isWithin: boolean | undefined) =>
            changes.filter((change) => change.isWithin === isWithin).length;
        const { atLeast, atMost } = interval(count(false), steady.length);
        const most =
            "atMostTimes" in limit ? limit.atMostTimes : "atMostLess" in limit ? limit.atMostLess : limit.atMostMoreMs;
        return [
            `${limit.of} ${describeLimit(limit)}`,
            String(runs.length - steady.length),
            String(steady.length),
            String(count(false)),
            `${describeBound(atLeast, "down")} to ${describeBound(atMost, "up")}`,
            String(count(undefined)),
            String(count(true)),
            String(changes.filter(({ by }) => by > most).length),
        ];
    });
    const heads = [
        "limit",
        "unsteady",
        "compared",
        "exceeded",
        "95% confidence",
        "undecided",
        "held",
        "exceeded by two numbers",
    ];
    const aborted = all.flatMap((one) => one.aborted ?? []);
    const counts = `${runs.length} runs without an attack were compared, and ${aborted.length} were not`;
    const why = [...groupedBy(aborted, (text) => text.replace(/: .*/, ""))].map(
        ([code, those]) => `${those.length} ${code}`,
    );
    return [counts, ...alignedRows([heads, ...rows]), ...why].join("\n");
}
