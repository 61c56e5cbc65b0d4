/** What the steps of an experiment are, what each is given, and what each prints for the next. */
import type { KnownRoutes } from "../kinds/checks/endpoints";
import type { Observed } from "../kinds/checks/observe";
import type { Cluster } from "../cluster/client";
import type { Plan } from "../definition/plan";
import type { OwnPolicy } from "../policies/beside";
import type { KnownPolicy } from "../policies/known";
import type { Conclusion } from "../report/conclusion";
import type { ChosenFor } from "../targets/choose";
import { fromVariable, parsed } from "./variable";

/** The result of each step, which it prints; see `printed`. */
export interface StepResults {
    "steady-state": SteadyState;
    "label-targets": LabeledTargets;
    check: Conclusion;
    recovery: { recoveredAfterMs: number | null };
    /** Number of objects that were removed, restored or lost labels. */
    "end-attacks": { ended: number };
}

export type StepName = keyof StepResults;

/** Not a step: what an update does with `steady-state` if only what it is given has changed. */
export const printingAgain = "print-again";

/** `routes` is absent if no check names a Service. */
export interface SteadyState extends KnownRoutes {
    /** See `runNameOf`. */
    runName: string;
    /** See `labels.pass`. */
    pass: string;
    /** Whether the account may make Events on targets: then the deadline Job may, too. @default false */
    mayMakeEvents?: boolean;
    /** Of the targets' namespace: no change of context may lead elsewhere. Absent if the account may not read it. */
    namespaceUid?: string;
    /** Whether the cluster replaces the pod of a deadline Job at once, however often. @default false */
    replacesAtOnce?: boolean;
    /** Of the slowest of the last good answers. */
    latencyMs: number;
    /** What was answered; see `keptOf`. */
    checks: Observed[];
}

export interface LabeledTargets {
    attacks: ChosenFor[];
    /** How long the slowest probe took of what must fail under the attacks, in milliseconds: before them, it worked. */
    baselineMs: number;
    /** Other NetworkPolicies are in the namespace, which stop selecting targets with a label. @default false */
    isPoliced?: boolean;
    /** What other NetworkPolicies said before the attacks. @default not known: version 0.5.0 did not note it */
    policies?: KnownPolicy[];
    /** What the run has made beside these. @default nothing */
    ownPolicies?: OwnPolicy[];
}

/** What a run makes that a namespace may not admit, as the program makes it. Names are those of the run. */
export interface Room {
    /** The deadline Job. Absent if it is not known. */
    job?: object;
    attacks: object[];
}

/** What steps are given by earlier steps and resources. */
export interface StepInputs {
    /** Absent without a deadline Job. */
    room?: Room;
    steadyState: SteadyState;
    targets: LabeledTargets;
    deadlineJob: string;
    /** Names of the attacks' objects, in the order of the plan. */
    attackObjects: string[];
}

/** What the check of a run is given that attacks nothing and has no deadline Job. */
export const nothingAttacked: Pick<StepInputs, "targets" | "deadlineJob" | "attackObjects"> = {
    targets: { attacks: [], baselineMs: 0 },
    deadlineJob: "",
    attackObjects: [],
};

export interface StepContext {
    plan: Plan;
    /** The stack, by name and identity, as leases name it; see `holderOf`. */
    stack: string;
    cluster: Cluster;
    /** Tells the person who watches the update how the step proceeds. */
    say: (message: string) => void;
    /** See `variables.answersFile`. */
    answersFile?: string;
}

/** One step. @typeParam N its name @typeParam I what it is given by earlier steps */
export type Step<N extends StepName, I extends keyof StepInputs = never> = (
    context: StepContext,
    given: Pick<StepInputs, I>,
) => Promise<StepResults[N]>;

/**
 * The environment variables of a step. `plan`, `room`, `steadyState`, `targets` and `attackObjects` hold JSON, `plan`
 * compressed; the others text.
 */
export const variables = {
    plan: "EXPERIMENT_PLAN",
    stack: "EXPERIMENT_STACK",
    /** Text of a kubeconfig; see `asVariable`. @default the machine's own */
    kubeconfig: "EXPERIMENT_KUBECONFIG",
    room: "ROOM",
    steadyState: "STEADY_STATE",
    targets: "TARGETS",
    deadlineJob: "DEADLINE_JOB",
    attackObjects: "ATTACKS",
    /** A file that the check appends each answer to, one JSON document per line, for a program that shows them. */
    answersFile: "EXPERIMENT_ANSWERS_FILE",
} as const;

/** Reads a step's inputs from its environment. @throws Error that names a missing variable */
export function inputsFrom(env: NodeJS.ProcessEnv): { plan: Plan; stack: string } & StepInputs {
    const text = (name: keyof typeof variables) => {
        const value = env[variables[name]];
        if (value !== undefined) return value;
        throw new Error(`${variables[name]} is not set: this is a step of an experiment, which an update runs`);
    };
    const json = <T>(name: keyof typeof variables) => parsed<T>(fromVariable(text(name)));
    return {
        plan: json("plan"),
        stack: text("stack"),
        get room() {
            return env[variables.room] === undefined ? undefined : json<Room>("room");
        },
        // Read only by the steps that are given them.
        get steadyState() {
            return json<SteadyState>("steadyState");
        },
        get targets() {
            return json<LabeledTargets>("targets");
        },
        get deadlineJob() {
            return text("deadlineJob");
        },
        get attackObjects() {
            return json<string[]>("attackObjects");
        },
    };
}
