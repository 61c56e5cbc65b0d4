import * as z from "zod";
import { changeLimitsOf, latencyLimitsOf, latencySchema, type LatencySettings } from "../kinds/checks/change-limits";
import { confidenceOf, type ConfidenceSettings, confidenceSettingsSchema } from "../kinds/checks/confidence";
import type { Check } from "../kinds/checks/registry";
import { dnsLabel } from "../values/kubernetes-rules";
import { durationBetween, nameSchema, notAllowed, notAnObject, percentage } from "../values/texts";
import { type Duration, parseDuration, times } from "../values/duration";
import { parsePercentage } from "../values/share";
import {
    checksWith,
    definitionSchema,
    type ExperimentDefinition,
    describeIssue,
    type Issue,
    issuesIn,
    describeMistakes,
    maxNameLength,
} from "./definition";
import { type Plan, planOf } from "./plan";
import { locateTarget } from "../targets/locate";
import { timeMistakes } from "./time-mistakes";

/** An experiment as a program writes it. All are plain values: a preview shows what would be attacked. */
export interface DefinedExperiment extends ExperimentDefinition {
    /** What must hold; at least one. */
    checks: Check[];
    /** Namespace of what names none. @default that of the first target that names one; required without attacks */
    namespace?: string;
    /** When answers count. */
    window?: {
        /** Observation time after the grace period, 1 s to 1 h. @default "30s" */
        duration?: Duration;
        /**
         * How long answers do not count after the last attack is proven, 0 s to 10 min. Not without attacks.
         * @default "15s"
         */
        grace?: Duration;
    };
    /** The time before the attack in which checks are measured that are compared with it. */
    baseline?: {
        /** 1 s to 10 min. @default "30s" */
        duration?: Duration;
    };
    /** Time between probes, for checks that set none, 20 ms to 1 min. @default "1s" */
    interval?: Duration;
    /** Time limit of a probe, for checks that set none, 100 ms to 1 min. @default "5s" */
    timeout?: Duration;
    /** Required share of good answers, for checks that set none. @default "100%" */
    successRate?: string;
    /**
     * How much slower answers may be than before the attack, for checks that set none and do not read a state,
     * as `podsReady` does. @default by any time
     */
    latency?: LatencySettings;
    /**
     * What answers must show for `PASSED`, for checks that set none and do not read a state, as `podsReady` does.
     * @default nothing
     */
    confidence?: ConfidenceSettings;
    /** Success rate below which attacks end early, for checks that set none. @default never */
    abortBelow?: string;
    /**
     * Time after which the attacks end, 10 s to 24 h, even if your machine is gone.
     * @default "10m" with `until: "disabled"`; else what the run needs and a minute
     */
    deadline?: Duration;
    /**
     * What ends the attacks. `"disabled"`: they stay after the verdict until the experiment is disabled, or until its
     * deadline. @default "verdict"
     */
    until?: "verdict" | "disabled";
    /** `"fail"`: a verdict other than `PASSED` fails the update, after the undo. @default "report" */
    onFailure?: "report" | "fail";
    /** Any text; another text runs the experiment again. @default "1" */
    run?: string;
    /** Folder of the reports, relative to the Pulumi project's. @default "chaos-reports" */
    reports?: string;
}

const notADuration = { error: notAnObject('{ duration: "30s" }') };

export const argumentsSchema = definitionSchema.extend({
    checks: checksWith("without a check there is no verdict"),
    namespace: nameSchema("a namespace").optional(),
    window: z
        .strictObject(
            {
                duration: durationBetween(times.duration).optional(),
                grace: durationBetween(times.grace).optional(),
            },
            notADuration,
        )
        .optional(),
    baseline: z.strictObject({ duration: durationBetween(times.baseline).optional() }, notADuration).optional(),
    interval: durationBetween(times.interval).optional(),
    timeout: durationBetween(times.timeout).optional(),
    successRate: percentage().optional(),
    latency: latencySchema.optional(),
    confidence: confidenceSettingsSchema.optional(),
    abortBelow: percentage().optional(),
    deadline: durationBetween(times.deadline).optional(),
    until: z.enum(["verdict", "disabled"]).optional(),
    onFailure: z.enum(["report", "fail"]).optional(),
    run: z.string().trim().min(1).optional(),
    reports: z.string().trim().min(1).optional(),
});

/** A process gets the plan in a variable, of which Linux allows 128 KiB. */
const maxPlanLength = 100_000;

export function planOfArguments(name: string, args: DefinedExperiment): Plan {
    const issues = issuesIn(args, argumentsSchema);
    const rule = dnsLabel(maxNameLength);
    const mistakes = [
        ...(typeof name === "string" && rule.isValid(name)
            ? []
            : [`its name: ${notAllowed(rule.allowed)({ input: name })}`]),
        ...issues.map(describeIssue),
        ...contradictionsIn(args ?? {}, wrongFieldsIn(issues)),
    ];
    let plan: Plan | undefined;
    if (mistakes.length === 0) {
        try {
            plan = planFrom(name, args);
        } catch (error) {
            mistakes.push((error as Error).message);
        }
    }
    const length = Buffer.byteLength(JSON.stringify(plan ?? null));
    if (length > maxPlanLength) mistakes.push(`all in all, it has ${length} characters; allowed: ${maxPlanLength}`);
    if (plan !== undefined && mistakes.length === 0) return plan;
    throw new Error(`the experiment ${name} has ${describeMistakes(mistakes)}`);
}

/** @throws Error with a mistake that depends on several fields */
function planFrom(name: string, args: DefinedExperiment): Plan {
    const { hypothesis, attacks, checks, actions, begin } = args;
    return planOf({
        definition: { hypothesis, attacks, checks, actions, begin },
        defaultChecks: [],
        name,
        run: args.run ?? "1",
        clusterName: "kubernetes",
        area: "Global",
        defaultNamespace: namespaceOf(args) ?? "",
        ...timesOf(args),
        successRate: parsePercentage(args.successRate ?? "100%")!,
        latency: args.latency && latencyLimitsOf(args.latency),
        confidence: args.confidence && confidenceOf(args.confidence),
        abortBelow: args.abortBelow === undefined ? undefined : parsePercentage(args.abortBelow),
        until: args.until,
        onFailure: args.onFailure ?? "report",
        reports: args.reports ?? "chaos-reports",
    });
}

/** The namespace of what names none. Undefined if no target names one either, or the arguments have mistakes. */
export function namespaceOf({ namespace, attacks }: Partial<DefinedExperiment>): string | undefined {
    try {
        const ofTargets = attacks?.map(({ target }) => locateTarget(target, "Global", "").namespace);
        return namespace ?? ofTargets?.find((one) => one !== "");
    } catch {
        return namespace;
    }
}

/** Whether a check is compared with before the attack. */
const isCompared = ({ checks = [], latency }: Partial<DefinedExperiment>) =>
    latency !== undefined || checks.some((check) => changeLimitsOf(check) !== undefined);

const isWithoutAttack = ({ attacks = [] }: Partial<DefinedExperiment>) => attacks.length === 0;

/** The arguments that are not valid by themselves, such as `attacks` or `window.grace`. */
const wrongFieldsIn = (issues: readonly Issue[]): Set<string> =>
    new Set(issues.map(({ path }) => path.slice(0, path[0] === "window" ? 2 : 1).join(".")));

function timesOf(args: DefinedExperiment) {
    const { window, baseline, interval, timeout, deadline } = args;
    return {
        durationMs: parseDuration(window?.duration ?? times.duration.usual)!,
        graceMs: parseDuration(window?.grace ?? (isWithoutAttack(args) ? "0s" : times.grace.usual))!,
        baselineMs: parseDuration(baseline?.duration ?? times.baseline.usual)!,
        intervalMs: parseDuration(interval ?? times.interval.usual)!,
        timeoutMs: parseDuration(timeout ?? times.timeout.usual)!,
        deadlineMs: deadline === undefined ? undefined : parseDuration(deadline)!,
    };
}

/** What is valid by itself, but not together. @param wrong arguments that are not valid by themselves */
function contradictionsIn(args: DefinedExperiment, wrong: ReadonlySet<string>): string[] {
    const isRight = (...fields: string[]) => fields.every((field) => !wrong.has(field));
    const { namespace, attacks, actions } = args;
    const aimed = { namespace, attacks: isRight("attacks") ? attacks : undefined };
    const { durationMs, graceMs, intervalMs, deadlineMs, baselineMs } = timesOf({ ...args, ...aimed });
    const compared = isRight("checks", "latency") ? isCompared(args) : undefined;
    const known = {
        durationMs: isRight("window", "window.duration") ? durationMs : undefined,
        graceMs: isRight("window", "window.grace", "attacks") ? graceMs : undefined,
        intervalMs: isRight("interval") ? intervalMs : undefined,
        baselineMs: compared && isRight("baseline") ? baselineMs : undefined,
        deadlineMs: isRight("deadline") ? deadlineMs : undefined,
        until: isRight("deadline") ? args.until : undefined,
        attacks: aimed.attacks,
    };
    const faults = timeMistakes(known, isRight("actions") ? actions : []).map(
        ({ against, reason }) => `${against === "duration" ? "window.duration" : against}: ${reason}`,
    );
    if (args.baseline !== undefined && compared === false)
        faults.push(
            "baseline: no check is compared with before the attack; allowed: leave it out, or set latency or " +
                "successRate.dropAtMost of a check",
        );
    if (!isRight("attacks")) return faults;
    const withoutAttack = isWithoutAttack(aimed);
    if (withoutAttack && (known.graceMs ?? 0) > 0)
        faults.push("window.grace: without an attack, all answers count; allowed: 0s, or leave it out");
    if (!isRight("namespace") || namespaceOf(aimed) !== undefined) return faults;
    const missing = withoutAttack
        ? "is missing; name the namespace of the checks and the actions, since there is no target to name one"
        : "no target names a namespace; name one here, or in a target, as in k8s.namespace=NAME";
    return [...faults, `namespace: ${missing}`];
}
