import { createHash } from "node:crypto";
import { type Action, restoredBy } from "../kinds/actions/registry";
import type * as kind from "../kinds/attacks/attack-kind";
import { type Attack, attackKindOf, findsTargets, objectNameOf } from "../kinds/attacks/registry";
import { abortRuleOf, contradictionsIn } from "../kinds/checks/abort";
import { changeLimitsOf, requiredRate } from "../kinds/checks/change-limits";
import { completed, plansService } from "../kinds/checks/check-kind";
import type { PlannedCheck } from "../kinds/checks/observe";
import { type Check, checkKindOf, checkName } from "../kinds/checks/registry";
import type { ServiceReference } from "../kinds/checks/service";
import type { Written } from "../values/texts";
import type { Chosen } from "../targets/choose";
import { type DiscoveryScope, peersOf } from "../targets/discover";
import { locateTarget } from "../targets/locate";
import type { BeginSettings } from "./begin-settings";
import { describeFault } from "./answers-fault";
import { changeMistakes, usualLimitsFor } from "./change-mistakes";
import { confidenceMistakes, requiredConfidence } from "./confidence-mistakes";
import type { AttackDefinition, ExperimentDefinition } from "./definition";
import { stayingMs, usualDeadlineMs } from "./usual-deadline";
import { parseRadius } from "../targets/radius";
import type { Confidence } from "../values/bound";
import type { ChangeLimit } from "../values/compared";
import { parseDuration, times } from "../values/duration";
import type { Share } from "../values/share";

/** All that one run of an experiment needs to know. Its steps pass it on as JSON. Times are milliseconds. */
export interface Plan extends DiscoveryScope, Written {
    experiment: string;
    /** Any text; another text is another run. */
    run: string;
    hypothesis: string;
    /** The kubeconfig context of the cluster. @default the kubeconfig's current one */
    context?: string;
    /** Namespace of targets, peers and checks that name none. */
    defaultNamespace: string;
    /** The Service that http checks ask that name no other. Absent if there are none. */
    service?: ServiceReference;
    /** Where the attacks' objects go: the one namespace of all targets. Without attacks, that of the actions. */
    namespace: string;
    /** Empty for a run that only checks and acts. */
    attacks: PlannedAttack[];
    checks: PlannedCheck[];
    actions: Action[];
    /** What the run waits for. @default absent: it begins at once */
    begin?: Begin;
    window: Window;
    /** How checks are measured before the attack that are compared with that. Absent if none is. */
    baseline?: { durationMs: number };
    deadlineMs: number;
    /**
     * Set if the deadline is the default for attacks that end with the verdict. @default absent: it was set, or they
     * stay
     */
    isUsualDeadline?: true;
    /** The attacks stay after the verdict. @default absent: they end with it */
    until?: "disabled";
    /** `fail`: a verdict other than PASSED fails the update, after the run is undone. */
    onFailure: "report" | "fail";
    /** Folder of the reports, relative to the folder that the update runs in. */
    reports: string;
}

export type PlannedAttack = kind.PlannedAttack<Attack>;
export type RunAttack = kind.RunAttack<Attack>;

export interface Begin {
    /** Its first good answer begins the run. */
    when: PlannedCheck;
    withinMs: number;
}

/** How long the checks observe the attack. */
export interface Window {
    /** Observation time after the grace period. */
    durationMs: number;
    /**
     * Grace period after the last attack is proven: answers are not counted while the cluster reroutes. 0 without
     * attacks: all answers count.
     */
    graceMs: number;
}

/** For checks that set none. */
interface CheckDefaults extends Pick<PlannedCheck, "intervalMs" | "timeoutMs"> {
    successRate: Share;
    /** How much slower answers may be than before the attack. @default by any time */
    latency?: readonly ChangeLimit[];
    /** A success rate below which a check ends the attacks. @default it does not */
    abortBelow?: Share;
    /** What the answers of a check must show. @default nothing */
    confidence?: Confidence;
}

type FromDefinition = "experiment" | "hypothesis" | "namespace" | "attacks" | "checks" | "actions" | "begin" | "window";

/** A run's settings. */
export interface PlanArgs
    extends
        Omit<Plan, FromDefinition | "until" | "deadlineMs" | "isUsualDeadline" | "baseline">,
        Window,
        CheckDefaults {
    definition: ExperimentDefinition;
    /** Measuring time before the attack, for checks that are compared with that. @default 30 s */
    baselineMs?: number;
    name: string;
    /** What ends the attacks. @default "verdict" */
    until?: "verdict" | "disabled";
    /** @default see `usualDeadlineMs`; 10 min for attacks that stay */
    deadlineMs?: number;
    /** For a definition without checks. */
    defaultChecks: Check[];
}

/**
 * The plan of a run, from its definition and settings.
 *
 * @throws Error if the targets do not name exactly one namespace, an http check has no Service to ask, an abort rule
 *   contradicts its check, or a check cannot show what it must, or be compared with before the attack
 */
export function planOf(args: PlanArgs): Plan {
    const { definition, name: experiment, run, context, clusterName, defaultNamespace, service } = args;
    const { settings, stack, command, area, agent, durationMs, graceMs, deadlineMs, until, onFailure, reports } = args;
    const { hypothesis, attacks = [], checks = args.defaultChecks, actions = [] } = definition;
    const planned = checks.map((check) => planCheck(check, args));
    const begin = planBegin(definition.begin, args);
    if (service === undefined) requireEndpoints(experiment, begin ? [...planned, begin.when] : planned);
    requireAbortRules(planned, durationMs);
    const window = { durationMs, graceMs: attacks.length === 0 ? 0 : graceMs };
    requireEnoughAnswers(checks, args, window);
    const located = planAttacks(attacks, args);
    const baseline = planned.some(({ limits }) => limits) ? { durationMs: baselineMsOf(args) } : undefined;
    const isUsualDeadline = deadlineMs === undefined && until !== "disabled";
    return {
        experiment,
        run,
        hypothesis,
        context,
        clusterName,
        defaultNamespace,
        agent,
        service,
        area,
        ...located,
        checks: planned,
        actions,
        begin,
        window,
        baseline,
        deadlineMs: isUsualDeadline
            ? usualDeadlineMs(located.attacks, planned, { ...window, baselineMs: baseline?.durationMs })
            : (deadlineMs ?? stayingMs),
        // Here, too, what has its default is left out.
        until: until === "disabled" ? until : undefined,
        onFailure,
        reports,
        settings,
        stack,
        command,
        isUsualDeadline: isUsualDeadline || undefined,
    };
}

function planAttacks(attacks: readonly AttackDefinition[], args: PlanArgs): Pick<Plan, "namespace" | "attacks"> {
    const located = attacks.map((definition, index): PlannedAttack & { namespace: string } => {
        const { target, radius, includeNotReady, established, outward, ...attack } = definition;
        const { kind } = attack;
        // A patch may have made it of an attack that needs none.
        if (target === undefined && !findsTargets(kind))
            throw new Error(`the experiment ${args.name} has no target for the attack ${kind}: set one, too`);
        const earlier = attacks.slice(0, index).filter((other) => other.kind === kind).length;
        const where = locateTarget(target, args.area, args.defaultNamespace);
        return {
            name: earlier === 0 ? kind : `${kind}-${earlier + 1}`,
            ...where,
            radius: parseRadius(String(radius ?? 1))!,
            // What has its default is left out as JSON: plans are kept, and shown.
            includeNotReady: includeNotReady || undefined,
            attack: withPeersLocated(attack, where.namespace),
            established: established === "cut" ? "cut" : undefined,
            outward: outward === "unproven" ? "unproven" : undefined,
        };
    });
    const namespaces = [...new Set(located.map(({ namespace }) => namespace))];
    if (namespaces.length > 1)
        throw new Error(
            `the attacks of an experiment must be in one namespace, and these are in ${namespaces.join(" and ")}`,
        );
    const namespace = namespaces[0] ?? (args.area === "Global" ? args.defaultNamespace : args.area);
    return { namespace, attacks: located.map(({ namespace: _, ...attack }) => attack) };
}

/** Peers that name no namespace are in the targets'. */
function withPeersLocated(attack: Attack, namespace: string): Attack {
    const peers = peersOf(attack);
    if (peers === undefined) return attack;
    return { ...attack, peers: locateTarget(peers, "Global", namespace).target } as Attack;
}

function planCheck(check: Check, defaults: CheckDefaults): PlannedCheck {
    const { intervalMs } = completed(check, defaults);
    return {
        name: checkName(check),
        check,
        intervalMs,
        timeoutMs: check.timeoutMs ?? defaults.timeoutMs,
        successRate: requiredRate(check.successRate, defaults.successRate),
        limits: changeLimitsOf(check, usualLimitsFor(check, defaults.latency)),
        confidence: requiredConfidence(check, defaults.confidence),
        abort: abortRuleOf(check, defaults.abortBelow),
    };
}

function planBegin(begin: BeginSettings | undefined, { intervalMs, timeoutMs }: CheckDefaults): Begin | undefined {
    if (begin === undefined) return undefined;
    const { when, within = times.begin.usual } = begin;
    return { when: planCheck(when, { intervalMs, timeoutMs, successRate: 1 }), withinMs: parseDuration(within)! };
}

/** @throws Error that names the http checks that would ask the plan's Service */
function requireEndpoints(experiment: string, checks: readonly PlannedCheck[]): void {
    const without = checks.filter(({ check }) => checkKindOf(check).asks?.(check, "") === plansService);
    if (without.length === 0) return;
    throw new Error(
        `the experiment ${experiment} has an http check, and no Service to ask: set \`service\` or \`url\` of ` +
            without.map(({ name }) => name).join(", "),
    );
}

function requireAbortRules(checks: readonly PlannedCheck[], durationMs: number): void {
    const faults = checks.flatMap(({ abort, successRate = 1, ...check }) =>
        abort
            ? contradictionsIn(abort, { ...check, successRate, durationMs }).map(
                  ({ reason }) => `${check.name}: ${reason}`,
              )
            : [],
    );
    if (faults.length > 0) throw new Error(faults.join("; "));
}

/** @throws Error if the answers of checks cannot show what they must */
function requireEnoughAnswers(checks: readonly Check[], args: PlanArgs, window: Window): void {
    const asked = { ...args, ...window, baselineMs: baselineMsOf(args) };
    const faults = [...confidenceMistakes(checks, asked), ...changeMistakes(checks, asked)];
    if (faults.length > 0) throw new Error(faults.map(describeFault).join("; "));
}

const baselineMsOf = ({ baselineMs }: PlanArgs) => baselineMs ?? parseDuration(times.baseline.usual)!;

/** Whether anything is attacked. Otherwise the run only checks, and acts if the plan has actions. */
export const isAttack = ({ attacks }: Pick<Plan, "attacks">): boolean => attacks.length > 0;

/** Whether the run only checks: it does nothing from which the application could recover. */
export const onlyObserves = ({ attacks, actions }: Pick<Plan, "attacks" | "actions">): boolean =>
    attacks.length + actions.length === 0;

/** What is undone, in words: "the attack" or "the run". */
export const undoneOf = (plan: Pick<Plan, "attacks">) => (isAttack(plan) ? "the attack" : "the run");

/** Whether a run needs the deadline Job: to end its attacks, or to restore what its actions change. */
export const needsDeadlineJob = (plan: Pick<Plan, "attacks" | "actions">): boolean =>
    isAttack(plan) || restoredBy(plan.actions).length > 0;

/** The value of the label on the pods that an attack has chosen. */
export const targetLabelFor = ({ experiment }: Plan, { name }: PlannedAttack): string => `${experiment}.${name}`;

/** The attacks of a run. @param chosen of each */
export const attacksOf = (plan: Plan, run: string, chosen: readonly Chosen[]): RunAttack[] =>
    plan.attacks.map((planned) => ({
        ...planned,
        experiment: plan.experiment,
        namespace: plan.namespace,
        run,
        object: objectNameOf(run, planned.name),
        label: targetLabelFor(plan, planned),
        chosen: chosen.find(({ name }) => name === planned.name)!,
    }));

/** By target label: the attacked ports of targets to which connections are kept, to see if they outlive the attack. */
export type KeptTargets = Record<string, { ports?: readonly number[] }>;

/** One for each attack that denies connections into its targets. */
export function keptTargetsOf(plan: Plan): KeptTargets {
    return Object.fromEntries(
        plan.attacks.flatMap((planned) => {
            const { inward } = attackKindOf(planned.attack).proof(planned.attack);
            return inward ? [[targetLabelFor(plan, planned), inward]] : [];
        }),
    );
}

/**
 * Name of a run, and the beginning of the names of its objects. Two stacks may run the same plan in a namespace, the
 * second after the first one's deadline: then neither may delete the other's objects.
 *
 * @param stack by name and identity, as leases name it
 */
export function runNameOf(plan: Plan, stack: string): string {
    return `${plan.experiment}-${hashOf(`${planToken(plan)} of ${identityOf(stack)}`)}`;
}

/** What distinguishes a stack from others of its name, if it has that: a stack may be renamed. */
export const identityOf = (stack: string) => stack.replace(/^.*\//, "");

/** Enough of a hash to distinguish texts. */
export const hashOf = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 8);

/**
 * Distinguishes plans in the names of their objects: another plan is another run. What differs from machine to machine
 * is not a part of it: an experiment must not run again because a kubeconfig has other names.
 */
export function planToken(plan: Plan): string {
    const { context: _, reports: __, settings: ___, stack: ____, command: _____, isUsualDeadline, ...run } = plan;
    // Versions up to 0.5 always used this default: if another version computes another one, that is not another run.
    if (isUsualDeadline) run.deadlineMs = stayingMs;
    return hashOf(JSON.stringify(run));
}
