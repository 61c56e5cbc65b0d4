/**
 * What the Lease on a namespace says: at most one run at a time has it. Anybody may delete it, which ends the run, and
 * who may edit it may write anything there: what is read is checked, and quoted where it is shown.
 *
 * | state     | the lease                                                | who moves it on                       |
 * | --------- | -------------------------------------------------------- | ------------------------------------- |
 * | free      | is not there; or is over or ended, and still another's   | the first step takes it               |
 * | taken     | names the run, and again in `not-begun`                  | the step `label-targets`: begun       |
 * | begun     | names the run                                            | the step `check`: concluded or ending |
 * | concluded | names the run, and `concluded`: its attacks stay         | the update that ends it: ending       |
 * | ending    | names no run: its deadline Job ends it, too              | the same: ended                       |
 * | ended     | has in `ended` when, and how the application recovered   | the first step deletes it, last       |
 * | aborted   | has in `ended` the reason, and the run: nothing attacked | the same                              |
 *
 * A run without an attack is begun once it is taken. Few imports: the program that guards a destroy has this file, too.
 */
import { dnsLabel } from "../values/kubernetes-rules";
import { annotations, labels, noteIn } from "../cluster/labels";
import type { V1Lease } from "../values/kubernetes-types";
import type { KeptTargets } from "../definition/plan";
import { kubectl, type KubectlPlace } from "../values/kubectl";
import { onOneLine, quoted } from "../values/quoted";
import { type Reason, reasonCodes } from "../values/reasons";

export const leaseName = "chaos-experiment";

export const leasePath = (namespace: string) =>
    `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${leaseName}`;

/**
 * Time between taking the lease and the attack, in milliseconds. The attack's deadline begins with it: the Job's pod
 * may take 2 min, its first report 30 s, the baseline and the positive control 45 s each, and Pulumi makes the objects.
 */
export const leasePreparationMs = 300_000;

/** The command that ends a run's attacks: its deadline Job watches the lease. */
export const stopCommand = (place: KubectlPlace & { namespace: string }) =>
    `${kubectl(place)} delete lease ${leaseName}`;

/** The annotations that move a lease from one state to another, as a merge patch has them. */
export type LeaseMove = Record<string, string | null>;

export const leaseMoves = {
    begun: { [annotations.notBegun]: null },
    concluded: { [annotations.concluded]: "true" },
    ending: { [annotations.run]: null },
    ended: (end: RunEnd) => ({ [annotations.ended]: JSON.stringify(end) }),
    aborted: (end: RunEnd & { aborted: Reason; run: string }) => ({ ...leaseMoves.ending, ...leaseMoves.ended(end) }),
};

/** The annotations of a lease that was just taken. @param keptTargets see `keptIn` */
export const takenBy = (experiment: string, run: string, hasBegun: boolean, keptTargets: object) => ({
    [labels.experiment]: experiment,
    [annotations.run]: run,
    ...(!hasBegun && { [annotations.notBegun]: run }),
    // In the Job's environment, another version's text would replace the Jobs of enabled experiments.
    [annotations.kept]: JSON.stringify(keptTargets),
});

/** The run that a lease names. While it does, its deadline Job may attack. */
export const runIn = ({ metadata }: V1Lease) => metadata?.annotations?.[annotations.run];

/** Whether a run has its verdict, while its attacks stay. */
export const isConcluded = ({ metadata }: V1Lease) => metadata?.annotations?.[annotations.concluded] !== undefined;

/** Whether the attacks of a run have not begun while it held a lease. False if that is not known. */
export const hasNotBegun = ({ metadata }: V1Lease, runName: string): boolean =>
    metadata?.annotations?.[annotations.notBegun] === runName;

/**
 * To which targets the run's deadline Job keeps connections. Empty if somebody has written something else there: an
 * account that may change the lease can have no other connections made, and cannot end the Job's program.
 */
export function keptIn(lease: V1Lease): KeptTargets {
    const kept = noteIn<Record<string, { ports?: unknown } | null>>(lease, annotations.kept);
    const isSound = Object.values(kept).every((one) => one && (one.ports === undefined || Array.isArray(one.ports)));
    return isSound ? (kept as KeptTargets) : {};
}

/** What a lease says of how its run was ended: see `earlyEndOf`. */
export const endNoteIn = ({ metadata }: V1Lease) => metadata?.annotations?.[annotations.ended];

/** Whether two leases are one, held for the same run in the same state: another run may have taken it since. */
export const isSameHold = (one: V1Lease, another: V1Lease): boolean => holdOf(one) === holdOf(another);

const holdOf = (lease: V1Lease) =>
    JSON.stringify([lease.metadata?.uid, lease.spec?.holderIdentity, runIn(lease), endNoteIn(lease)]);

/** A run whose attacks were ended before its resources were deleted. Kept in its lease's annotation, as JSON. */
export interface RunEnd {
    /** When the attacks had ended, in milliseconds since the epoch. */
    at: number;
    /** Time from then until every check held, in milliseconds. Absent if that was not seen. */
    recoveredAfterMs?: number;
    /** Why it was ABORTED. Absent if it was not. */
    aborted?: Reason;
    /** Name of the run that was ABORTED. */
    run?: string;
    /** Set if an update has failed since the application had not recovered: it fails for that once. */
    notRecovered?: true;
    /** The answers until then, as in `Recovered`. Anybody may have written them: validate them before use. */
    checks?: unknown;
}

/** How the run that holds a lease was ended. Undefined if it was not, or somebody has written something else there. */
export function earlyEndOf({ metadata }: V1Lease): RunEnd | undefined {
    const note = noteIn<RunEnd>({ metadata }, annotations.ended);
    const { at, recoveredAfterMs, checks, aborted, run, notRecovered } = note;
    if (!isTime(at)) return undefined;
    const isReason = typeof aborted?.message === "string" && aborted.code in reasonCodes;
    return {
        at,
        ...(isTime(recoveredAfterMs) && { recoveredAfterMs, checks }),
        ...(isReason && { aborted: { code: aborted.code, message: onOneLine(aborted.message, maxAborted) }, run }),
        ...(notRecovered === true && { notRecovered }),
    };
}

/** How much of a reason is read, in characters: reasons are shorter. */
export const maxAborted = 2_000;

/** As `earlyEndOf`. Undefined if it says that another run was ABORTED: one with another plan. */
export function endOf(lease: V1Lease, runName: string): RunEnd | undefined {
    const end = earlyEndOf(lease);
    return end?.aborted && end.run !== runName ? undefined : end;
}

/** Whether it is a moment since the epoch or a length of time, in milliseconds, of which a Date can be made. */
const isTime = (value: unknown): value is number =>
    typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 8.64e15;

export interface LeaseOwner {
    stack: string;
    defaultNamespace: string;
}

/** The text by which a lease names its holder. */
export const holderIdentityOf = ({ stack, defaultNamespace }: LeaseOwner) =>
    `stack ${stack} (its application is in ${defaultNamespace})`;

/** The stack that holds a lease, with its identity: `local/0f3c5a7be2914d86`. Undefined if the lease names none. */
export const holderIn = ({ spec }: V1Lease): string | undefined =>
    /^stack ([\w./-]+) /.exec(spec?.holderIdentity ?? "")?.[1];

/** A time of an object, in milliseconds since the epoch. 0 if it does not say it, as a lease that others have made. */
export const timeOf = (time?: string) => new Date(time ?? 0).getTime() || 0;

/** When a lease ends, in milliseconds since the epoch: after its run's deadline. */
export const leaseEndsAt = ({ spec }: V1Lease) => timeOf(spec?.renewTime) + (spec?.leaseDurationSeconds ?? 0) * 1_000;

/** The name of the experiment that a lease names. Anybody who may write the lease may write something else there. */
export function experimentIn({ metadata }: V1Lease): string | undefined {
    const name = metadata?.annotations?.[labels.experiment];
    return name !== undefined && dnsLabel().isValid(name) ? name : undefined;
}

const ofStack = /^stack [\w./-]+ \(its application is in [a-z\d-]+\)$/;

/** Who holds a lease, in words, or what somebody has written there. */
export function describeHolder({ spec }: V1Lease): string {
    const { holderIdentity: holder } = spec ?? {};
    if (holder === undefined) return "somebody";
    return ofStack.test(holder) ? holder : `the holder of the lease, ${quoted(holder, 100)},`;
}

/** Whether a stack of some name holds a lease, with any identity. */
export function isOfStackName({ spec }: V1Lease, { stack }: { stack: string }): boolean {
    const [, name] = /^stack ([\w.-]*)\/\w+ /.exec(spec?.holderIdentity ?? "") ?? [];
    return name !== undefined && name === stack.replace(/\/\w+$/, "");
}
