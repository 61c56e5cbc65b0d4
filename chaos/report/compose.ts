import type { Delivery } from "../kinds/actions/beside";
import type { Performed } from "../kinds/actions/perform";
import { actionKindOf, besides } from "../kinds/actions/registry";
import { describeHits } from "../kinds/attacks/counted";
import type { Aborted } from "../kinds/checks/abort";
import type { Baseline } from "../kinds/checks/change-limits";
import type { Observed } from "../kinds/checks/observe";
import { isAttack, needsDeadlineJob, type Plan } from "../definition/plan";
import type { ShownAttack } from "../proof/attack-proofs";
import { describeMilliseconds } from "../values/duration";
import { describeEstablished } from "../proof/established";
import { type Reason, sentenceOf } from "../values/reasons";
import { percentOf } from "../values/share";
import { disabling } from "../values/texts";
import { journalPath } from "./journal-files";
import { judgeDelivery } from "./deliveries";
import { type Conclusion, describeUnproven, unprovenOutward, withNotes } from "./conclusion";
import { type Journal, journalVersion } from "./journal-schema";
import { type Judged, judgeChecks } from "./judged-check";
import { type Measured, together } from "./measured";
import { judge, type Verdict } from "./verdict";

export interface Seen {
    checks: Observed[];
    actions: Performed[];
    /** What actions have sent beside the run, in the time that counts. Absent if nothing, or that is not known. */
    deliveries?: Delivery[];
    /** Why no check can be judged. */
    reasons: (Reason | undefined)[];
    /** Set if an abort rule ended the window. */
    aborted?: Aborted;
    /** Which pods were terminating, and may have answered in place of the targets, in words. Absent if none were. */
    terminating?: string;
}

interface Found {
    /** Name and identity, as leases have them. */
    stack: string;
    startedAt: number;
    before: Observed[];
    baseline?: Baseline[];
    attacks: readonly ShownAttack[];
    workloads?: string[];
    namespaceUid?: string;
    waitedMs?: number;
    seen: Seen;
    isEnded: boolean;
    readiness: Journal["readiness"];
}

/** The journal of a run that has ended, with its verdict. */
export function journalOf(plan: Plan, found: Found): Journal {
    const { stack, startedAt, before, baseline, attacks, workloads, namespaceUid, waitedMs, seen } = found;
    const { isEnded, readiness } = found;
    const attackedAt = attackedSince(attacks);
    const { checks, aborted } = seen;
    const judged = judgeChecks({ plan, checks, startedAt, attackedAt, aborted, baseline });
    const measured = together(judged.map((one) => one.measured));
    // They are judged as checks are. Their many requests would hide those of the checks in what all add up to.
    const delivered = seen.deliveries?.map((delivery) => judgeDelivery(delivery, isAttack(plan))) ?? [];
    const { verdict, code, reason } = judge(
        // The abort is the reason, even if other checks have failed by then.
        [...judged, ...delivered].filter(({ name }) => aborted === undefined || name === aborted.check),
        seen.reasons,
    );
    const isOfAll = seen.reasons.some((one) => one !== undefined);
    const known = isOfAll ? [] : [...judged, ...delivered].filter((one) => one.inconclusive === undefined);
    const unproven = unprovenOutward(attacks);
    const notes = [
        describeUnproven(unproven) ?? [],
        ...attacks.map(killsOnNodes),
        attacks.flatMap(({ name, counts }) => (counts ? describeHits(name, counts) : [])),
        // An attack is proven for fresh connections only.
        ...(verdict === "PASSED" ? [survivors(attacks), seen.terminating ?? []] : []),
    ].flat();
    const done = seen.actions.filter(({ problem }) => problem === undefined);
    const lasts = needsDeadlineJob(plan) && !isEnded;
    return {
        schema: journalVersion,
        plan,
        conclusion: conclude(plan, stack, startedAt, {
            attack: [...new Set(plan.attacks.map(({ attack }) => attack.kind))].join(",") || "none",
            targets: attacks.flatMap(({ chosen }) =>
                chosen.targets.map(({ namespace, pod, container }) => `${namespace}/${pod}/${container}`),
            ),
            verdict,
            ...(code && { code }),
            reason: verdict === "INCONCLUSIVE" ? reason : withNotes(reason, notes),
            requests: measured.requests,
            successRate: successRateOf(measured),
            timeToFirstFailureMs: measured.firstFailureMs ?? null,
            timeToStabilityMs: measured.stableAfterMs ?? null,
            ...(attackedAt !== undefined && { established: attacks.flatMap(establishedConclusion) }),
            ...(unproven.length > 0 && { outwardUnproven: unproven }),
            checks: known.map(checkConclusion),
            actions: [...done.map(({ action }) => action), ...doneBeside(plan)],
            ...(lasts && !failsUpdate(plan, verdict) && { lasts: describeLasting(plan, startedAt) }),
        }),
        startedAt,
        waitedMs,
        attackedAt,
        ...(aborted && { aborted }),
        endedAt: Date.now(),
        attacks: attacks.map(({ name, chosen, proven, kills, refused, usage, became, counts, longestGapMs }) => ({
            name,
            provenAt: proven?.attackedAt,
            targets: chosen.targets,
            workloads: chosen.workloads,
            peerWorkloads: chosen.peerWorkloads,
            kills,
            ...(refused && refused.length > 0 && { refused }),
            usage,
            established: became,
            counts,
            longestGapMs,
            withoutTool: chosen.withoutTool,
            leftOut: chosen.leftOut,
            hosts: chosen.hosts,
        })),
        workloads,
        namespaceUid,
        before,
        baseline,
        checks,
        actions: seen.actions,
        deliveries: seen.deliveries,
        readiness,
    };
}

const doneBeside = ({ actions }: Plan): string[] =>
    besides(actions).map(({ action }) => actionKindOf(action).describe(action));

/** Whether a verdict fails the update, after the run is undone. */
export const failsUpdate = ({ onFailure }: Plan, verdict: Verdict) => onFailure === "fail" && verdict !== "PASSED";

/** Until when an attack stays, and what ends it. */
function describeLasting(plan: Plan, startedAt: number): string {
    const deadline = new Date(startedAt + plan.deadlineMs).toISOString().replace(/\.\d+/, "");
    return `until the experiment is disabled, or until ${deadline} at the latest. To end it: ${disabling(plan)}`;
}

/** Since when all attacks are proven. Undefined if one was not proven, or there are no attacks. */
export function attackedSince(attacks: readonly ShownAttack[]): number | undefined {
    const since = attacks.flatMap(({ proven }) => proven?.attackedAt ?? []);
    return since.length > 0 && since.length === attacks.length ? Math.max(...since) : undefined;
}

function establishedConclusion({ name, became }: ShownAttack): NonNullable<Conclusion["established"]> {
    if (became === undefined) return [];
    const { direction, reason } = became;
    return [
        {
            attack: name,
            ...(direction && { direction }),
            became: describeEstablished(became),
            ...(reason !== undefined && { reason }),
        },
    ];
}

/**
 * How far a kill on certain nodes came: a controller may replace a pod on another node, and the radius stays used up.
 */
function killsOnNodes({ name, chosen: { nodes }, kills = [] }: ShownAttack): string[] {
    const [first, last] = [kills.at(0), kills.at(-1)];
    if (!nodes || !first || !last) return [];
    const pods =
        kills.length === 1 ? "1 pod" : `${kills.length} pods within ${describeMilliseconds(last.at - first.at)}`;
    return [
        `on the nodes of its target, ${name} removed ${pods}, and one that is replaced on another node counts as ` +
            "missing there",
    ];
}

/** Which attacks established connections survived, in words. */
function survivors(attacks: readonly ShownAttack[]): string[] {
    const survived = attacks.filter(({ became }) => became?.became === "survived");
    const [first, ...others] = survived;
    if (first === undefined) return [];
    const of = attacks.length > 1 ? ` of ${survived.map(({ name }) => name).join(", ")}` : "";
    const how = others.length === 0 ? describeEstablished(first.became!) : "survived";
    return [`established connections into the targets${of} ${how}`];
}

const successRateOf = ({ good, counted }: Measured) => percentOf(good, counted);

function checkConclusion({ name, held, measured, bound, changes }: Judged) {
    return {
        name,
        held,
        requests: measured.requests,
        successRate: successRateOf(measured),
        ...(bound && { bound }),
        ...(changes.length > 0 && { changes }),
    };
}

/** The journal of a run that attacked nothing. */
export function abortedJournal(
    plan: Plan,
    found: Pick<Found, "stack" | "startedAt" | "waitedMs"> & { reason: Reason; checks: Observed[] },
): Journal {
    const { stack, reason, startedAt, waitedMs, checks } = found;
    return {
        schema: journalVersion,
        plan,
        conclusion: conclude(plan, stack, startedAt, {
            attack: "none",
            targets: [],
            verdict: "ABORTED",
            code: reason.code,
            reason: sentenceOf(reason),
            requests: checks.flatMap(({ answers }) => answers).length,
            successRate: "0%",
            timeToFirstFailureMs: null,
            timeToStabilityMs: null,
            checks: [],
            actions: [],
        }),
        startedAt,
        waitedMs,
        endedAt: Date.now(),
        attacks: [],
        checks,
        actions: [],
        readiness: [],
    };
}

type Concluded = Omit<Conclusion, "name" | "run" | "hypothesis" | "journal">;

function conclude(plan: Plan, stack: string, startedAt: number, found: Concluded): Conclusion {
    const { experiment: name, run, hypothesis } = plan;
    return { name, run, hypothesis, ...found, journal: journalPath(plan, stack, startedAt) };
}
