import { createHash } from "node:crypto";
import type { AttributeExpression } from "../shared/attributes";
import { parseRadius, type Radius } from "../shared/radius";
import type { Action } from "./actions/action";
import type { Attack } from "./attacks/attack";
import { type Check, checkName } from "./checks/check";
import { productsCheck } from "./checks/products";
import type { SavedAttack, SavedExperiment } from "./saved";
import { locateTarget } from "./targets/locate";

/** All that one run of an experiment needs to know, as its steps hand it on. Times are milliseconds. */
export interface Plan {
    /** Name of the saved experiment. */
    experiment: string;
    /** Which run of it; any text. */
    run: string;
    hypothesis: string;
    /** The kubeconfig context of the cluster. */
    context: string;
    clusterName: string;
    /** Where the shop is: the gateway that is asked. */
    shopNamespace: string;
    /** Where targets are looked for. */
    area: string;
    /** Where the attacks' objects go: the one namespace that all targets are in. */
    namespace: string;
    attacks: PlannedAttack[];
    checks: PlannedCheck[];
    /** In the order in which they are done. */
    actions: Action[];
    window: Window;
    deadlineMs: number;
    /** `fail`: a verdict other than PASSED fails the update, after the attacks are undone. */
    onFailure: "report" | "fail";
}

export interface PlannedAttack {
    /** Tells it from the experiment's others, in the names of its objects too: its kind, numbered from the second of a kind on. */
    name: string;
    /** Attributes of the targets, their namespace among them. */
    target: AttributeExpression;
    radius: Radius;
    attack: Attack;
}

/** A check, with the stack's settings for what it leaves open. */
export interface PlannedCheck {
    /** Tells it from the experiment's others. */
    name: string;
    check: Check;
    intervalMs: number;
    timeoutMs: number;
    /** The share of good answers that the hypothesis asks for, above 0 and up to 1. */
    successRate: number;
}

/** How long all checks look at once. */
export interface Window {
    /** The grace aside. */
    durationMs: number;
    /** How long answers are not counted at first, while the cluster reroutes. */
    graceMs: number;
}

/** A stack's settings of an experiment, and what is around them. */
export interface PlanArgs extends Window {
    saved: SavedExperiment;
    name: string;
    run: string;
    area: string;
    /** Of an experiment with one attack. @default the saved experiment's */
    target?: AttributeExpression;
    /** Of each attack. @default the saved experiment's, else one container */
    radius?: Radius;
    /** Of an experiment with one attack. @default the saved experiment's */
    attack?: Attack["kind"];
    /** Of the checks that say nothing of their own. */
    intervalMs: number;
    timeoutMs: number;
    successRate: number;
    deadlineMs: number;
    onFailure: "report" | "fail";
    context: string;
    clusterName: string;
    shopNamespace: string;
}

/**
 * What the stack's settings make of a saved experiment.
 *
 * @throws Error where the targets do not name exactly one namespace
 */
export function planOf({
    saved,
    name,
    run,
    area,
    deadlineMs,
    onFailure,
    context,
    clusterName,
    shopNamespace,
    durationMs,
    graceMs,
    ...rest
}: PlanArgs): Plan {
    const { checks = [productsCheck], actions = [] } = saved;
    return {
        experiment: name,
        run,
        hypothesis: saved.hypothesis,
        context,
        clusterName,
        shopNamespace,
        area,
        ...planAttacks(saved.attacks, area, shopNamespace, rest),
        checks: checks.map((check) => planCheck(check, rest)),
        actions,
        window: { durationMs, graceMs },
        deadlineMs,
        onFailure,
    };
}

function planAttacks(
    saved: readonly SavedAttack[],
    area: string,
    shopNamespace: string,
    wanted: Pick<PlanArgs, "target" | "radius" | "attack">,
): Pick<Plan, "namespace" | "attacks"> {
    const located = saved.map(({ target, radius, ...attack }, index) => {
        const before = saved.slice(0, index).filter(({ kind }) => kind === attack.kind).length;
        const where = locateTarget(wanted.target ?? target, area, shopNamespace);
        const planned = withPeersLocated(attackOf(attack, wanted.attack), where.namespace);
        return {
            name: before === 0 ? planned.kind : `${planned.kind}-${before + 1}`,
            ...where,
            radius: wanted.radius ?? parseRadius(String(radius ?? 1))!,
            attack: planned,
        };
    });
    const namespaces = [...new Set(located.map(({ namespace }) => namespace))];
    if (namespaces.length > 1)
        throw new Error(
            `the attacks of an experiment must be in one namespace, and these are in ${namespaces.join(" and ")}`,
        );
    return { namespace: namespaces[0]!, attacks: located.map(({ namespace: _, ...attack }) => attack) };
}

/** The saved attack, unless the stack wants another kind. */
function attackOf(attack: Attack, kind: Attack["kind"] = attack.kind): Attack {
    return kind === attack.kind ? attack : { kind };
}

/** Peers whose namespace nobody says are in the targets'. */
function withPeersLocated(attack: Attack, namespace: string): Attack {
    return attack.kind === "blackhole" && attack.peers !== undefined
        ? { ...attack, peers: locateTarget(attack.peers, "Global", namespace).target }
        : attack;
}

function planCheck(
    check: Check,
    { intervalMs, timeoutMs, successRate }: Pick<PlanArgs, "intervalMs" | "timeoutMs" | "successRate">,
): PlannedCheck {
    return {
        name: checkName(check),
        check,
        intervalMs: check.perSecond === undefined ? intervalMs : 1_000 / check.perSecond,
        timeoutMs: check.timeoutMs ?? timeoutMs,
        successRate: check.successRate ?? successRate,
    };
}

/** What the pods are marked with that an attack has chosen: the value of a label. */
export function markOf({ experiment }: Plan, { name }: PlannedAttack): string {
    return `${experiment}.${name}`;
}

/** Tells two plans apart in the names of their objects: another plan is another run. */
export function planToken(plan: Plan): string {
    return createHash("sha256").update(JSON.stringify(plan)).digest("hex").slice(0, 8);
}

/** How the steps, which are commands, are handed their plan. */
export const planVariable = "EXPERIMENT_PLAN";

/** How the steps are told the stack that they are run for. */
export const stackVariable = "EXPERIMENT_STACK";

/** Names a file that the check writes each answer to as it comes, one JSON document a line. For a program that shows them. */
export const answersFileVariable = "EXPERIMENT_ANSWERS_FILE";

/** The plan that a step was handed. */
export function planFromEnvironment(): Plan {
    return JSON.parse(required(planVariable)) as Plan;
}

/** The stack that a step is run for. */
export function stackFromEnvironment(): string {
    return required(stackVariable);
}

/** What an earlier step printed, which the engine hands on. */
export function resultFromEnvironment<T>(variable: string): T {
    return JSON.parse(required(variable)) as T;
}

function required(variable: string): string {
    const value = process.env[variable];
    if (value === undefined)
        throw new Error(`${variable} is not set: this is a step of an experiment, which \`pulumi up\` runs`);
    return value;
}
