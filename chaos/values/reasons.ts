/**
 * Why a run is ABORTED or INCONCLUSIVE: the codes, and what was seen. `docs/troubleshooting.md` has an entry for each.
 *
 * If a run has several reasons, the first of this order counts; see `decisive`.
 */
import { withoutControls } from "./quoted";

export const reasonCodes = {
    // Before the attack: the run ends with the first that is met. A probe or the Job may fail then, too.
    "missing-right": "the account lacks a right that the run needs",
    "namespace-busy": "another experiment has the namespace's lease",
    "begin-not-met": "what the run waits for did not hold in time",
    "no-steady-state": "a check did not get three good answers in a row before the attack",
    "baseline-unsteady": "answers before the attack are too uneven, or too many bad, to compare others with them",
    "no-target": "no container is left that matches a target or the peers",
    "targets-not-ready": "containers match a target, but their pods are not ready",
    "targets-not-replaced": "containers match the target of a kill, but nothing would replace their pods",
    "eviction-refused": "the API server refused to evict any target, such as for a PodDisruptionBudget",
    "service-unfit": "the Service of a fault is not there, or a proxy cannot stand in its place",
    "peers-unfit": "a host of a blackhole has no address, or one that the attack could not be proven at",
    "radius-too-small": "the radius allows none of the containers that match",
    "attack-refused": "a NetworkPolicy, a webhook or the cluster keeps an attack from being made",
    "action-refused": "the workload of an action is missing, protected or unfit",
    "no-tool": "no container of a pod has a tool that the proof could use",
    "exec-refused": "the API server lets nothing be run in a pod, so nothing can be tried from within it",
    "no-port": "a pod has no known TCP port at which the attack could be proven",
    "baseline-failed": "what the attack should break did not work before it",
    "no-room": "the namespace does not admit a pod or another object of the run",

    // All measuring rests on the clock.
    "clock-shift": "this machine's clock moved against the time that passed",

    // These explain why an attack does not show, so they count before what was seen of the attack.
    "target-changed": "a target was gone, or had ended, restarted or got another image, before the run had ended",
    "service-changed": "somebody deleted or changed the Service of a fault",
    "peers-changed": "pods joined the peers of an attack during the run, or the name of a host got another address",
    "proxy-failed": "a fault's proxy was not ready, ended, was restarted, or had to refuse callers",
    "policy-allows": "another NetworkPolicy selects a target and allows what the attack denies",
    "policy-denies": "another NetworkPolicy came, went or was changed during the run, and traffic is denied by that",
    // It ends a run for one of these, and is gone then.
    "job-not-running": "the deadline Job has no running pod, or not what it needs",

    // What was seen of the attack counts before what could not be seen.
    "attack-not-held": "the attack worked at first, and not until the end",
    "witness-silent": "the deadline Job reported nothing for a time, or nothing of before the attack",
    "attack-not-proven": "what the attack should break still worked",
    "probe-failed": "a probe from within a pod could not be sent",
    "positive-control-failed": "something failed under attack that the attack should leave alone",
    "api-server-unavailable": "the API server did not answer, or refused a call",

    // These may follow from the above, and a failed action from the end of the run: none begins after it.
    "run-over": "the run had ended before its check had",
    "action-failed": "an action could not be done",
    "action-undone": "somebody changed what an action had set, before the checks had ended",

    // The attack held, but the application may not have met it.
    "attack-bypassed": "pods of a Service were cut off, and every request to it still succeeded",
    "established-not-cut": "established connections survived the attack, and the experiment requires a cut",
    "established-unknown": "it was not seen whether established connections were cut, and the experiment requires it",
    "fault-not-http": "traffic was not HTTP, or gRPC, in clear text: no status could answer, and nothing be matched",
    "fault-hit-nobody": "no request was hit by the fault in the window, or none that a check caused",
    "fault-incomplete": "the fault was not seen whole: its `first` requests, its pulse, or a limit of bytes",
    "fault-uncounted": "the proxy's counts could not be read",

    // These are about a single check or load, and count only if the run is good otherwise, and no other check failed.
    "sender-stalled": "too many requests of a check were not sent, or the answers not read, in time",
    "load-not-delivered": "too few requests of a load were sent on time",
    "application-not-seen": "too many requests of a check did not reach the application",
    "too-few-answers": "a check sent no request that counts",
    "limit-undecided": "the answers before and under attack leave open whether a limit of a change holds",
    "confidence-not-reached": "enough answers were good, but they do not show what the experiment requires",
} as const;

export type ReasonCode = keyof typeof reasonCodes;

export interface Reason {
    code: ReasonCode;
    /** What was seen, for people: a sentence without a period at the end. */
    message: string;
}

/** Journals, terminals and pages show it: it may quote others. */
export const reason = (code: ReasonCode, message: string): Reason => ({ code, message: withoutControls(message) });

const order = Object.keys(reasonCodes);

/**
 * Which of several reasons counts: the one whose code stands first in `reasonCodes`. Of those with one code, the one
 * that was given first.
 */
export function decisive<T extends Reason>(reasons: readonly (T | undefined)[]): T | undefined {
    const given = reasons.filter((one) => one !== undefined);
    return given.sort((a, b) => order.indexOf(a.code) - order.indexOf(b.code))[0];
}

export const sentenceOf = ({ message }: Reason): string => message.replace(/(?<![.!?])$/, ".");

/** A run that cannot begin, or cannot go on, with the reason and what to do about it. */
export class ReasonError extends Error {
    override readonly name = "ReasonError";
    readonly reason: Reason;

    /** @param advice sentences */
    constructor(
        code: ReasonCode,
        message: string,
        readonly advice: string,
    ) {
        super(`${message}. ${advice}`);
        this.reason = reason(code, message);
    }
}

/** Where a code is explained: in this repository, and in the package, beside its programs in `dist`. */
export const pageOfReason = (code: ReasonCode): string => `docs/troubleshooting.md#${code}`;

/** A verdict and why, as it is printed everywhere: `INCONCLUSIVE (clock-shift): …`. */
export const verdictLine = (told: { verdict: string; code?: ReasonCode; reason: string }): string =>
    `${verdictAndCode(told)}: ${told.reason}`;

export const verdictAndCode = ({ verdict, code }: { verdict: string; code?: ReasonCode }): string =>
    code === undefined ? verdict : `${verdict} (${code})`;
