import { type ApiError, type Cluster, sentAt, statusOf, unlessUnlistable } from "../cluster/client";
import { otherResources } from "../cluster/resources";
import type { V1Lease } from "../values/kubernetes-types";
import { againOnConflict } from "../cluster/change";
import { kubectl } from "../values/kubectl";
import { labels, runLabels, unlabeling } from "../cluster/labels";
import { identityOf, isAttack, keptTargetsOf, type Plan, runNameOf } from "../definition/plan";
import { type Reason, ReasonError } from "../values/reasons";
import { quoted } from "../values/quoted";
import { anotherRun } from "../values/texts";
import {
    describeHolder,
    earlyEndOf,
    endOf,
    experimentIn,
    hasNotBegun,
    holderIn,
    holderIdentityOf,
    isOfStackName,
    isSameHold,
    leaseEndsAt,
    type LeaseMove,
    leaseMoves,
    leaseName,
    type LeaseOwner,
    leasePreparationMs,
    maxAborted,
    type RunEnd,
    runIn,
    takenBy,
    timeOf,
} from "./lease-record";

type Place = Pick<Plan, "context" | "namespace">;

/** What a run notes on its targets. */
const noted = Object.keys(unlabeling.metadata.annotations);

/**
 * The commands that end what is left of a run whose lease is gone or over. Labels first, of all pods: one may have lost
 * one of them, and other policies do not select a pod that has the other. They keep the program of its deadline Job,
 * which could not start again without it.
 */
export const cleanUpCommands = (place: Place): string[] => [
    `${kubectl(place)} label pods --all ${runLabels.map((key) => `${key}-`).join(" ")}`,
    `${kubectl(place)} annotate pods --all ${noted.map((key) => `${key}-`).join(" ")}`,
    `${kubectl(place)} delete networkpolicies --selector ${labels.experiment}`,
];

export class LeaseHeldError extends Error {
    override readonly name = "LeaseHeldError";

    /** @param ofThisStack the name of that experiment, if a stack of this one's name runs it */
    constructor(
        message: string,
        readonly ofThisStack?: string,
    ) {
        super(message);
    }
}

/** Who runs an experiment. A stack may take its own lease again, and undo its own experiment, on any machine. */
export interface LeaseHolder {
    /** Name and identity: `local/0f3c5a7be2914d86`. Another backend may have a stack of the same name. */
    stack: string;
    plan: Pick<Plan, "namespace" | "defaultNamespace" | "experiment" | "deadlineMs">;
}

/** The identity decides: a stack may be renamed, and its namespace changed, while it runs an experiment. */
function belongsTo(held: V1Lease, { stack }: { stack: string }): boolean {
    const holder = holderIn(held);
    return holder !== undefined && identityOf(holder) === identityOf(stack);
}

/**
 * Takes the lease on a namespace: one experiment at a time. Two that begin at once, each within its radius, would
 * together affect more than either may. Only one client can create a Lease. It ends when the experiment is undone, or
 * when the deadline must have ended the attack. It names the run: while it does, the run's deadline Job may attack.
 *
 * @param again name of the run, if an earlier step of it has taken the lease. Then it keeps the time since which the
 *   run has it: the deadline of a run without attacks counts from then, here and in its Job
 * @throws LeaseHeldError that names the holder, if another stack has it
 * @throws ReasonError if the run that has taken it was ABORTED, or the lease was deleted or names the run no longer:
 *   then it has ended, and its steady state was that of before
 */
export async function acquireLease(
    cluster: Cluster,
    holder: LeaseHolder & { plan: Plan },
    again?: string,
): Promise<void> {
    const { stack, plan } = holder;
    const { namespace, defaultNamespace, experiment, deadlineMs, baseline } = plan;
    const { held, now } = await readAt(cluster, namespace);
    const own = held && belongsTo(held, holder) ? held : undefined;
    // The attacks of a run that was ended are gone. Its resources may still be deleted.
    const isFree = !held || own || isOver(held, now) || earlyEndOf(held) !== undefined;
    if (!isFree) throw new LeaseHeldError(describe(held), otherOfStack(held, holder));
    const ofRun = again === undefined ? undefined : requireOwn(own, again, plan, held);
    const runName = again ?? runNameOf(plan, stack);
    const hasBegun = ofRun ? !hasNotBegun(ofRun, runName) : !isAttack(plan);
    // A later step takes it again, when the baseline is over.
    const baselineMs = again === undefined ? (baseline?.durationMs ?? 0) : 0;
    const body: V1Lease = {
        metadata: {
            name: leaseName,
            namespace,
            // If somebody else has seen it end too, and changed it since, the API server rejects this (409).
            resourceVersion: held?.metadata!.resourceVersion,
            annotations: takenBy(experiment, runName, hasBegun, keptTargetsOf(plan)),
        },
        spec: {
            holderIdentity: holderIdentityOf({ stack, defaultNamespace }),
            acquireTime: ofRun?.spec?.acquireTime ?? microTime(now),
            renewTime: microTime(now),
            leaseDurationSeconds: Math.ceil((deadlineMs + leasePreparationMs + baselineMs) / 1_000),
        },
    };
    const taken = held
        ? cluster.replace(leaseIn(namespace), body)
        : cluster.create({ resource: otherResources.lease, namespace }, body);
    await taken.catch((error: unknown) => {
        if (statusOf(error) !== 409) throw error;
        throw new LeaseHeldError(`another experiment has just begun in namespace ${namespace}`);
    });
}

/** The holder's own lease, if it still names a run. @throws ReasonError as `acquireLease` */
function requireOwn(own: V1Lease | undefined, runName: string, plan: Plan, held: V1Lease | undefined): V1Lease {
    const { namespace, run } = plan;
    const aborted = own && earlyEndOf(own)?.aborted;
    if (aborted) throw abortedAgain(aborted, plan);
    if (own && runIn(own) === runName) return own;
    const seen = held ? `no longer names the run ${run}, which has ended` : `was deleted, which ends the run ${run}`;
    throw new ReasonError("run-over", `the lease of namespace ${namespace} ${seen}`, anotherRun(plan));
}

/** A time as a lease has it: with microseconds. https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#MicroTime */
const microTime = (ms: number) => new Date(ms).toISOString().replace("Z", "000Z");

const leaseIn = (namespace: string) => ({ resource: otherResources.lease, name: leaseName, namespace });

/**
 * Leaves in the place of a lease that was released, or that somebody has deleted to stop the run, that an update fails
 * since the application has not recovered. Anybody may take it. Nothing else that is there at the next try says so.
 *
 * @param at when the attacks had ended, in milliseconds since the epoch
 */
export async function noteNotRecovered(cluster: Cluster, { stack, plan }: LeaseHolder, at: number): Promise<void> {
    const { namespace, defaultNamespace } = plan;
    const ended: RunEnd = { at, notRecovered: true };
    await cluster.create(
        { resource: otherResources.lease, namespace },
        {
            metadata: { name: leaseName, namespace, annotations: leaseMoves.ended(ended) },
            spec: { holderIdentity: holderIdentityOf({ stack, defaultNamespace }) },
        },
    );
}

/** Whether a run has its lease, and its deadline has not passed. For runs whose attacks do not show that. */
export async function isUnderWay(cluster: Cluster, plan: Plan, runName: string): Promise<boolean> {
    const { held, now } = await readAt(cluster, plan.namespace);
    if (held === undefined || runIn(held) !== runName) return false;
    return now < timeOf(held.spec?.acquireTime) + plan.deadlineMs;
}

/** A run that was ABORTED stays so, for the same reason: its Job is gone, and the engine makes no other. */
export const abortedAgain = ({ code, message }: Reason, plan: Plan) =>
    new ReasonError(
        code,
        `run ${plan.run} was ABORTED before, as its lease says: ${quoted(message, maxAborted)}`,
        anotherRun(plan),
    );

/**
 * Moves a lease to another state, unless it is gone, or is held for another run or in another state by now.
 *
 * @param known the lease as it was read, or moved before
 * @param move one of `leaseMoves`
 * @returns the lease as it is then. Undefined if it was not moved
 */
export async function moveLease(cluster: Cluster, known: V1Lease, move: LeaseMove): Promise<V1Lease | undefined> {
    const place = leaseIn(known.metadata!.namespace!);
    let last: V1Lease | undefined = known;
    return againOnConflict(async () => {
        const lease = last ?? (await cluster.get(place));
        last = undefined;
        if (!lease || !isSameHold(lease, known)) return undefined;
        const { uid, resourceVersion } = lease.metadata!;
        return cluster.patch(place, { metadata: { uid, resourceVersion, annotations: move } });
    });
}

/** Moves the holder's own lease, if it has one. @param moveOf undefined if that stays as it is */
export async function moveOwn(
    cluster: Cluster,
    holder: LeaseHolder,
    moveOf: (own: V1Lease) => LeaseMove | undefined,
): Promise<void> {
    const { own } = await leaseFor(cluster, holder);
    const move = own && moveOf(own);
    if (move) await moveLease(cluster, own, move);
}

/**
 * Notes in the lease that a run was ABORTED, and why, instead of releasing it. Others may take it. If the update is
 * repeated, the run's remaining steps know that nothing was attacked.
 */
export function noteAborted(cluster: Cluster, holder: LeaseHolder & { plan: Plan }, aborted: Reason): Promise<void> {
    const run = runNameOf(holder.plan, holder.stack);
    // How it was ended before counts: then it may have attacked.
    const moveOf = (own: V1Lease) =>
        endOf(own, run) ? undefined : leaseMoves.aborted({ at: Date.now(), aborted, run });
    return moveOwn(cluster, holder, moveOf);
}

/** Deletes the lease if the holder has it. Notes are added to it meanwhile. */
export async function releaseLease(cluster: Cluster, holder: LeaseHolder): Promise<void> {
    const { namespace } = holder.plan;
    await againOnConflict(async () => {
        const { own } = await leaseFor(cluster, holder);
        if (!own) return;
        const { uid, resourceVersion } = own.metadata!;
        await cluster.delete(leaseIn(namespace), { uid, resourceVersion });
    });
}

/**
 * Whose the namespace's lease is, in one read.
 *
 * @returns `own`: the holder's own lease, over or not. `others`: who else holds it, in a sentence: then targets and
 *   attacks in the namespace are theirs. Neither if nobody holds it
 */
export async function leaseFor(cluster: Cluster, holder: LeaseHolder): Promise<{ own?: V1Lease; others?: string }> {
    const { held, now } = await readAt(cluster, holder.plan.namespace);
    if (!held) return {};
    if (belongsTo(held, holder)) return { own: held };
    return isOver(held, now) ? {} : { others: describe(held) };
}

/**
 * All leases that belong to a stack, in all namespaces. If the account may not list those of all namespaces: the
 * one in the application's namespace.
 */
export async function leasesOf(cluster: Cluster, owner: LeaseOwner): Promise<V1Lease[]> {
    // An account that may not even get the lease has run no experiment: its steps do so.
    const found = await unlessUnlistable(allLeases(cluster, owner.defaultNamespace));
    return found?.items.filter((held) => belongsTo(held, owner)) ?? [];
}

/** The experiments that a stack of the owner's name runs under other identities: other components of its program. */
export async function othersOfStack(cluster: Cluster, owner: LeaseOwner): Promise<string[]> {
    const { items, now } = await allLeases(cluster, owner.defaultNamespace);
    const running = items.filter((held) => !isOver(held, now) && earlyEndOf(held) === undefined);
    return running.flatMap((held) =>
        isOfStackName(held, owner) && !belongsTo(held, owner) ? (experimentIn(held) ?? []) : [],
    );
}

/** The leases of experiments, in all namespaces or in one's own, and the time by the API server's clock. */
export const allLeases = (cluster: Cluster, own: string) =>
    inAllOr(async (namespace) => {
        if (namespace !== undefined) {
            const { held, now } = await readAt(cluster, namespace);
            return { items: held ? [held] : [], now };
        }
        const items = await cluster.all(otherResources.lease, { fieldSelector: `metadata.name=${leaseName}` });
        return { items, now: sentAt(items) };
    }, own);

/** A list of all namespaces, or of one's own if the account may not list all (403). */
export async function inAllOr<T extends object>(
    list: (namespace?: string) => Promise<T>,
    own: string,
): Promise<T & { everywhere: boolean }> {
    try {
        return { ...(await list()), everywhere: true };
    } catch (error) {
        if (statusOf(error) !== 403) throw error;
        return { ...(await list(own)), everywhere: false };
    }
}

interface FoundLease {
    held?: V1Lease;
    /** The time by the API server's clock. */
    now: number;
}

const isOver = (held: V1Lease, now: number) => now > leaseEndsAt(held);

/**
 * The lease, and the time by the API server's clock, in milliseconds since the epoch, to the second: two machines that
 * compare a lease with their own clocks may both believe that they hold it.
 */
async function readAt(cluster: Cluster, namespace: string): Promise<FoundLease> {
    try {
        const held = await cluster.read(leaseIn(namespace));
        return { held, now: sentAt(held) };
    } catch (error) {
        if (statusOf(error) !== 404) throw error;
        return { now: sentAt(error as ApiError) };
    }
}

/**
 * The experiment that holds a lease, if it has another name and the holder's stack runs it. Each component of a program
 * has an identity: a component that was renamed is another one, and begins before Pulumi undoes the earlier one.
 */
function otherOfStack(held: V1Lease, { stack, plan }: LeaseHolder): string | undefined {
    const experiment = experimentIn(held);
    return experiment !== plan.experiment && isOfStackName(held, { stack }) ? experiment : undefined;
}

function describe(held: V1Lease): string {
    const until = new Date(leaseEndsAt(held)).toISOString();
    return (
        `${describeHolder(held)} runs ${experimentIn(held) ?? "an experiment"} in namespace ` +
        `${held.metadata!.namespace}, until it is disabled there or its lease ends at ${until}`
    );
}
