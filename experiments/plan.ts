import { createHash } from "node:crypto";
import { parseAttributes } from "../shared/attributes";
import type { Radius } from "../shared/radius";
import type { Attack } from "./attacks/attack";
import type { SavedExperiment } from "./saved";

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
    /** Attributes of the targets, their namespace among them. */
    target: string;
    /** Where the attack's objects go: the one namespace that the target's attributes name. */
    namespace: string;
    radius: Radius;
    attack: Attack;
    window: Window;
    deadlineMs: number;
    /** `fail`: a verdict other than PASSED fails the update, after the attack is undone. */
    onFailure: "report" | "fail";
}

/** How `/products` is checked. */
export interface Window {
    durationMs: number;
    intervalMs: number;
    timeoutMs: number;
    graceMs: number;
    /** The share of good answers that the hypothesis asks for, above 0 and up to 1. */
    successRate: number;
}

/** A stack's settings of an experiment, and what is around them. */
export interface PlanArgs extends Window {
    saved: SavedExperiment;
    name: string;
    run: string;
    area: string;
    /** @default the saved experiment's */
    target?: string;
    radius: Radius;
    /** @default the saved experiment's */
    attack?: Attack["kind"];
    deadlineMs: number;
    onFailure: "report" | "fail";
    context: string;
    clusterName: string;
    shopNamespace: string;
}

/**
 * What the stack's settings make of a saved experiment.
 *
 * @throws Error where the target does not name exactly one namespace
 */
export function planOf({ saved, name, run, area, radius, deadlineMs, onFailure, context, clusterName, shopNamespace, ...rest }: PlanArgs): Plan {
    const { durationMs, intervalMs, timeoutMs, graceMs, successRate } = rest;
    return {
        experiment: name,
        run,
        hypothesis: saved.hypothesis,
        context,
        clusterName,
        shopNamespace,
        area,
        ...locateTarget(rest.target ?? saved.target, area, shopNamespace),
        radius,
        attack: attackOf(saved, rest.attack),
        window: { durationMs, intervalMs, timeoutMs, graceMs, successRate },
        deadlineMs,
        onFailure,
    };
}

/** The saved attack, unless the stack wants another kind. */
function attackOf({ attack = { kind: "blackhole" } }: SavedExperiment, kind: Attack["kind"] = attack.kind): Attack {
    return kind === attack.kind ? attack : { kind };
}

/**
 * Puts the shop's namespace into a target that names none: whoever does not say where, means the shop.
 *
 * @throws Error where the target names several namespaces, or all but one: an attack's policy lives in exactly one.
 */
export function locateTarget(target: string, area: string, shopNamespace: string): { target: string; namespace: string } {
    const condition = parseAttributes(target).find(({ key }) => key === "k8s.namespace");
    if (condition === undefined) {
        const namespace = area === "Global" ? shopNamespace : area;
        return { target: `${target},k8s.namespace=${namespace}`, namespace };
    }
    const [namespace, ...others] = condition.values;
    if (condition.negated || others.length > 0 || namespace!.endsWith("*")) {
        throw new Error(`the target "${target}" must name exactly one namespace, as in k8s.namespace=${shopNamespace}`);
    }
    return { target, namespace: namespace! };
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
    if (value === undefined) throw new Error(`${variable} is not set: this is a step of an experiment, which \`pulumi up\` runs`);
    return value;
}
