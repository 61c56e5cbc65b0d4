import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { Answer } from "../../kinds/checks/answer";
import type { Bound } from "../../kinds/checks/confidence";
import type { Observed } from "../../kinds/checks/observe";
import { verdictLine } from "../../values/reasons";
import type { Journal } from "../journal-schema";
import { checksOf } from "../reported-run";
import { boundOfRun } from "../rates";
import type { Verdict } from "../verdict";

/** Attributes that are absent are left out. */
type Attributes = Record<string, string | number | string[] | undefined>;

/** A part of a run's trace. Times are milliseconds since the epoch. */
export interface RunSpan {
    name: string;
    /** 16 hexadecimal digits. */
    id: string;
    /** The ID of the span that it is a part of. Absent for the run's own span. */
    parent?: string;
    from: number;
    to: number;
    attributes: Attributes;
    /** Why it did not succeed. */
    problem?: string;
    events?: { name: string; at: number; attributes: Attributes }[];
    /** Bad answers whose requests have a trace of their own. */
    answers?: Answer[];
}

/** OpenTelemetry has a word for each verdict but `INCONCLUSIVE`. */
const statuses: Record<Verdict, string> = {
    PASSED: "success",
    FAILED: "failure",
    INCONCLUSIVE: "inconclusive",
    ABORTED: "aborted",
};

/** 32 hexadecimal digits. The IDs of a run's trace and spans are the same each time they are sent. */
export const traceIdOf = (journal: Journal): string => digest(journal, "trace").slice(0, 32);

const digest = ({ conclusion }: Journal, what: string): string =>
    createHash("sha256")
        .update(`${basename(conclusion.journal)}\n${what}`)
        .digest("hex");

/** When a run attacked. Undefined if it attacked nothing. */
export function attackedTime(journal: Journal): { from: number; to: number } | undefined {
    const { startedAt, attackedAt = startedAt, endedAt, aborted, attacks, recovery } = journal;
    if (attacks.length === 0) return undefined;
    const to = aborted?.endedAt ?? recovery?.undoneAt ?? endedAt;
    return { from: attackedAt, to: Math.max(attackedAt, to) };
}

/**
 * A run as a trace. Names of attributes are OpenTelemetry's where it has one, and begin with `chaos.` otherwise.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/registry/attributes/test/
 * @returns the spans, that of the run first
 */
export function traceOf(journal: Journal): RunSpan[] {
    const { plan, conclusion, startedAt, endedAt, before, checks, recovery } = journal;
    const { verdict, code, reason } = conclusion;
    const id = digest(journal, "run").slice(0, 16);
    const part = (name: string, time: { from: number; to: number }, rest: Partial<RunSpan> = {}): RunSpan => ({
        name,
        // Actions may have the same name, but do not begin at the same time.
        id: digest(journal, `${name}\n${time.from}`).slice(0, 16),
        parent: id,
        attributes: {},
        ...rest,
        from: time.from,
        // The clock may have been set back meanwhile.
        to: Math.max(time.from, time.to),
    });
    const steady = timeOf(verdict === "ABORTED" && !before ? checks : before);
    const window = verdict === "ABORTED" ? undefined : timeOf(checks);
    const windowSpan = window && part("window", window);
    const after = recovery && { from: recovery.undoneAt, to: recovery.undoneAt + recovery.recoveredAfterMs };
    const parts = [
        ...(steady ? [part("steady state", steady, { problem: code === "no-steady-state" ? reason : undefined })] : []),
        ...attackSpans(journal, part),
        ...(windowSpan ? [windowSpan, ...checkSpans(journal, windowSpan, part)] : []),
        ...actionSpans(journal, windowSpan?.id ?? id, part),
        // A person may look at the attack for hours before it is undone.
        ...(after ? [part("undo", { from: plan.until ? after.from : (window?.to ?? endedAt), to: after.from })] : []),
        ...(after ? [part("recovery", after)] : []),
    ];
    const run: RunSpan = {
        name: `experiment ${conclusion.name}`,
        id,
        from: Math.min(startedAt, ...parts.map(({ from }) => from)),
        to: Math.max(endedAt, ...parts.map(({ to }) => to)),
        attributes: {
            "test.suite.name": conclusion.name,
            "test.suite.run.status": statuses[verdict],
            "k8s.cluster.name": plan.clusterName,
            "k8s.namespace.name": plan.namespace,
            "error.type": verdict === "PASSED" ? undefined : (code ?? verdict),
            "chaos.run": plan.run,
            "chaos.hypothesis": plan.hypothesis,
            "chaos.verdict": verdict,
            "chaos.code": code,
            "chaos.reason": reason,
            "chaos.attack": conclusion.attack,
            "chaos.targets": conclusion.targets,
            "chaos.requests": conclusion.requests,
            // An aborted run has answers of the steady state only.
            "chaos.success_rate": verdict === "ABORTED" ? undefined : conclusion.successRate,
            ...boundAttributes(boundOfRun(journal)),
            "chaos.time_to_first_failure_ms": conclusion.timeToFirstFailureMs ?? undefined,
            "chaos.time_to_stability_ms": conclusion.timeToStabilityMs ?? undefined,
            "chaos.journal": basename(conclusion.journal),
        },
        problem: verdict === "PASSED" ? undefined : verdictLine(conclusion),
    };
    return [run, ...parts];
}

type Part = (name: string, time: { from: number; to: number }, rest?: Partial<RunSpan>) => RunSpan;

function timeOf(observed: readonly Observed[] = []): { from: number; to: number } | undefined {
    const answers = observed.flatMap((one) => one.answers);
    if (answers.length === 0) return undefined;
    return {
        from: answers.reduce((least, { at }) => Math.min(least, at), Infinity),
        to: answers.reduce((most, { at, latencyMs }) => Math.max(most, at + latencyMs), 0),
    };
}

/** A span for each attack, with a span for its proof. */
function attackSpans(journal: Journal, part: Part): RunSpan[] {
    const { plan, startedAt, attacks, conclusion } = journal;
    return attacks.flatMap(({ name, provenAt, targets, kills = [] }) => {
        const { attack, target } = plan.attacks.find((planned) => planned.name === name)!;
        const { to } = attackedTime(journal)!;
        const events = [
            ...targets.map((one) => ({
                name: "target",
                at: startedAt,
                attributes: {
                    "k8s.namespace.name": one.namespace,
                    "k8s.pod.name": one.pod,
                    "k8s.pod.uid": one.uid,
                    "k8s.container.name": one.container,
                },
            })),
            ...kills.map(({ at, pod, uid }) => ({
                name: "pod deleted",
                at,
                attributes: { "k8s.pod.name": pod, "k8s.pod.uid": uid },
            })),
        ];
        const attributes = { "chaos.attack": attack.kind, "chaos.target": target };
        const whole = part(`attack ${name}`, { from: startedAt, to }, { attributes, events });
        const problem = provenAt === undefined ? conclusion.reason : undefined;
        return [
            whole,
            part(`proof of ${name}`, { from: startedAt, to: provenAt ?? to }, { parent: whole.id, problem }),
        ];
    });
}

/** A span for each check, with links to the traces of requests that were answered badly. */
function checkSpans(journal: Journal, { id: parent }: RunSpan, part: Part): RunSpan[] {
    const results = checksOf(journal);
    return journal.checks.flatMap((observed) => {
        const { name, answers } = observed;
        const time = timeOf([observed]);
        const { held, code, reason, bound } = results.find((one) => one.name === name)!;
        const attributes = {
            "test.case.name": name,
            "test.case.result.status": held === undefined ? undefined : held ? "pass" : "fail",
            "error.type": held ? undefined : (code ?? "FAILED"),
            "chaos.reason": reason,
            "chaos.requests": answers.length,
            ...boundAttributes(bound),
        };
        const traced = answers.filter(({ traceId }) => traceId !== undefined);
        const rest = { parent, attributes, problem: held ? undefined : reason, answers: traced };
        return time ? [part(`check ${name}`, time, rest)] : [];
    });
}

const boundAttributes = (bound?: Bound): Attributes => ({
    "chaos.bound.level": bound?.level,
    "chaos.bound.at_least": bound?.atLeast,
    "chaos.bound.at_most": bound?.atMost,
    "chaos.bound.answers": bound?.answers,
});

const actionSpans = ({ actions }: Journal, parent: string, part: Part): RunSpan[] =>
    actions.map(({ action, begunAt, endedAt, problem }) =>
        part(action, { from: begunAt, to: endedAt }, { parent, problem }),
    );
