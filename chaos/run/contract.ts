/**
 * What the steps of an experiment are, what each is given, and what each prints for the next.
 *
 * A step is a command. The environment has its `Input` as one JSON document; beside that the kubeconfig, which alone is
 * a secret. The step prints one line, its result as JSON, and its progress to standard error. The state keeps both, so
 * the forms of results stay readable for later versions.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import type { KnownRoutes } from "../kinds/checks/endpoints";
import type { Baseline } from "../kinds/checks/change-limits";
import type { Observed } from "../kinds/checks/observe";
import type { Cluster } from "../cluster/client";
import type { Plan } from "../definition/plan";
import type { JobBasis } from "../witness/protocol";
import type { OwnPolicy } from "../policies/own-policies";
import type { KnownPolicy } from "../policies/known";
import { ReasonError } from "../values/reasons";
import type { Conclusion } from "../report/conclusion";
import type { Chosen } from "../targets/choose";

/** What each step is given besides the plan, and what it prints. */
interface Steps {
    /** `room` is absent without a deadline Job. */
    "steady-state": { given: { room?: Room }; result: SteadyState };
    /** There is none if no action goes on beside the run. */
    "begin-beside": { given: { steadyState: SteadyState; room: Room; deadlineJob: string }; result: Accompanied };
    "label-targets": { given: { steadyState: SteadyState; room?: Room; deadlineJob: string }; result: LabeledTargets };
    /** `accompanied` is absent if no action goes on beside the run. */
    check: {
        given: { steadyState: SteadyState; targets: LabeledTargets; deadlineJob: string; accompanied?: Accompanied };
        result: Conclusion;
    };
    recovery: { given: object; result: { recoveredAfterMs: number | null } };
    /** Number of objects that were removed, restored or lost labels. */
    "end-attacks": { given: object; result: { ended: number } };
}

export type StepName = keyof Steps;

export type Given<N extends StepName> = Steps[N]["given"];

export type Step<N extends StepName> = (context: StepContext, given: Given<N>) => Promise<Steps[N]["result"]>;

/** This is no step: an update does it with `steady-state` if only the step's input has changed. */
export const printingAgain = "print-again";

/** `routes` is absent if no check names a Service. */
export interface SteadyState extends KnownRoutes, JobBasis {
    /** The uid of the targets' namespace: no change of context may lead elsewhere. Absent if it may not be read. */
    namespaceUid?: string;
    /** How long the run waited for what begins it. Absent if for nothing. */
    waitedMs?: number;
    /** The latency of the slowest of the last good answers. */
    latencyMs: number;
    /** What was answered; see `keptOf`. */
    checks: Observed[];
    /** What the answers under attack are compared with. Absent if no check is compared. */
    baseline?: Baseline[];
}

/** What was seen under what goes on beside the run by now. */
export interface Accompanied {
    /** As of `SteadyState`, where it is not measured then. */
    baseline?: Baseline[];
}

export interface LabeledTargets {
    attacks: Chosen[];
    /**
     * How long the slowest probe took of what must fail under the attacks, in milliseconds: before them, it worked.
     * States have it by this name; it is not how long the `baseline` of checks lasts.
     */
    baselineMs: number;
    /** Other NetworkPolicies are in the namespace, which stop selecting targets with a label. @default false */
    isPoliced?: boolean;
    /** What other NetworkPolicies said before the attacks. @default not known: version 0.5.0 did not note it */
    policies?: KnownPolicy[];
    /** The workloads of the attacks' namespace, for reports; see `workloadsOf`. Absent if they are not known. */
    workloads?: string[];
    /** What the run has made beside these. @default nothing */
    ownPolicies?: OwnPolicy[];
}

/** What a run makes that a namespace may not admit, as the program makes it. Names are those of the run. */
export interface Room {
    /** The deadline Job. Absent if it is not known. */
    job?: object;
    attacks: object[];
    /** The pods that actions have beside the run, in the order of the plan. @default none */
    besides?: object[];
}

/** What the check of a run is given that attacks nothing and has no deadline Job. */
export const nothingAttacked: Omit<Given<"check">, "steadyState"> = {
    targets: { attacks: [], baselineMs: 0 },
    deadlineJob: "",
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

/** The environment variables of a step. */
export const variables = {
    /** See `inputVariables`. */
    input: "EXPERIMENT_INPUT",
    /** Text of a kubeconfig; see `asVariable`. @default the machine's own */
    kubeconfig: "EXPERIMENT_KUBECONFIG",
    /** A file that the check appends each answer to, one JSON document per line, for a program that shows them. */
    answersFile: "EXPERIMENT_ANSWERS_FILE",
} as const;

export type Input<N extends StepName> = Pick<StepContext, "plan" | "stack"> & Given<N>;

const partOfInput = (index: number) => (index === 0 ? variables.input : `${variables.input}_${index + 1}`);

/** Compressed, since a preview would show JSON in many lines. One variable, or several if it is too long for one. */
export function inputVariables<N extends StepName>(input: Input<N>): Record<string, string> {
    const parts = compressed(JSON.stringify(input)).match(new RegExp(`.{1,${longest}}`, "g"))!;
    return Object.fromEntries(parts.map((part, index) => [partOfInput(index), part]));
}

/** What `inputVariables` has made. @throws Error if there is none */
export function inputFrom<N extends StepName>(env: NodeJS.ProcessEnv): Input<N> {
    let text = "";
    for (let index = 0; env[partOfInput(index)] !== undefined; index++) text += env[partOfInput(index)];
    if (text !== "") return JSON.parse(fromVariable(text)) as Input<N>;
    throw new Error(`${variables.input} is not set: this is a step of an experiment, which an update runs`);
}

/**
 * A step's result as it prints it: JSON, compressed if it is long. Pulumi gives it to the step's later commands in one
 * variable.
 *
 * @throws ReasonError if it is too long even so: some 1,000 targets are
 */
export function printed(result: unknown): string {
    const text = asVariable(JSON.stringify(result));
    if (text.length <= maxVariableLength) return text;
    throw new ReasonError(
        "attack-refused",
        `the targets are too many for one experiment: what is known about them takes ${text.length} bytes, and ` +
            `${maxVariableLength} are possible`,
        "Lower the radius",
    );
}

/** What `printed` has made. @throws Error if a step of an earlier version has ended without a result */
export function parsed<T>(text: string): T {
    if (text !== "") return JSON.parse(fromVariable(text)) as T;
    throw new Error(
        "a step of the experiment ended without a result, so nothing that rests on it begins. Disable the " +
            "experiment, update the stack, then enable it again",
    );
}

/** Linux starts no process with a longer variable, its name included (MAX_ARG_STRLEN, 128 KiB). */
export const maxVariableLength = 125_000;
/** Windows has 32,767 characters for a variable. */
const longest = 30_000;
const mark = "gzip:";

/** A text as the value of an environment variable: compressed if it is long. It may still be too long. */
export const asVariable = (text: string): string => (text.length <= longest ? text : compressed(text));

const compressed = (text: string): string => mark + gzipSync(text, { level: 9 }).toString("base64");

/** The text that a value has been made of, by one of these. */
export function fromVariable(value: string): string {
    if (!value.startsWith(mark)) return value;
    return gunzipSync(Buffer.from(value.slice(mark.length), "base64")).toString();
}
