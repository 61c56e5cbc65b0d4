import type { V1Lease } from "../values/kubernetes-types";
import { setTimeout as sleep } from "node:timers/promises";
import { type Cluster, unlessUnreadable } from "../cluster/client";
import { jobTypes, type ObjectApi } from "../cluster/resources";
import { needsDeadlineJob, type Plan, runNameOf } from "../definition/plan";
import { leaseFor, type LeaseHolder, leasesOf, moveLease } from "../lease/lease";
import { earlyEndOf, experimentIn, isConcluded, leaseMoves, type LeaseOwner, runIn } from "../lease/lease-record";
import { recover, type Recovered, recoveryTimeoutMs } from "../lease/recover";
import { endAttacks, type Say, throwAll } from "./end";
import { uidsOfAttacks, activeLeftOf, leftOf } from "./left";
import { jobNameOf } from "../pods/job-name";

/**
 * How long an update leaves this process to the checks, in milliseconds: what it does next keeps the process busy, and
 * would show as a slow recovery.
 */
const undisturbedMs = 1_500;

/** An update waits 1.5 s for recovery, not longer: its last step does, and is given what was seen until then. */
const backgroundTimeoutMs = 10_000;

export interface EndOptions {
    /** Name of a run that goes on. @default none does */
    but?: string;
    /** The experiment as the program has it, asked for when the attacks have ended. @default nothing is known */
    planned?: () => Plan | undefined;
    /** As of `endAttacks`. */
    say?: Say;
}

/**
 * Ends the runs of a stack before the update does anything else, and removes all that is left of them. Reads
 * nothing but the cluster: neither a definition nor a setting may stand between a person's "stop" and the end of an
 * attack. Then sees when the application recovers, if need be in the background, by the checks of the program's plan:
 * by what a lease says, anybody who may change it could have requests sent with this account. If the plan is another
 * one than the run's by now, the last step waits for the recovery, by the plan in the stack's state.
 *
 * @returns the experiments whose attacks were ended
 * @throws Error with all that failed, after everything was tried
 */
export async function endRuns(
    cluster: Cluster,
    owner: LeaseOwner,
    { but, planned, say }: EndOptions = {},
): Promise<string[]> {
    const leases = (await leasesOf(cluster, owner)).filter((lease) => but === undefined || isOfAnother(lease, but));
    const ended = await valuesOf(
        leases.map(async (lease) => {
            const { namespace } = lease.metadata!;
            const experiment = experimentIn(lease);
            if (experiment === undefined) return [];
            const left = leftOf({ namespace: namespace!, experiment });
            // An abort has ended the attacks before; what was left are the parts of the deadline Job.
            const isEnded = earlyEndOf(lease) !== undefined;
            const { at, swept, noted } = await end(cluster, isEnded ? undefined : lease, (api) =>
                endAttacks(api, left, say),
            );
            if (isEnded || swept === 0) return [];
            const plan = attempt(() => planned?.());
            if (plan && plan.namespace === namespace && runNameOf(plan, owner.stack) === runIn(lease)) {
                await undisturbed(noteRecovery(cluster, noted, at, plan, backgroundTimeoutMs));
            }
            return [experiment];
        }),
    );
    return ended.flat();
}

/**
 * Ends the attacks of one run during its own update. The deadline Job then ends itself and gives up its rights; the Job
 * stays, since its log tells of the run.
 *
 * @param options.inBackground whether nobody awaits `recovery`: it is seen for 10 s at most, of which the update leaves
 *   the first 1.5 s undisturbed. @default false
 * @returns when the attacks had ended, and how the application recovered; undefined if that was not seen in time
 * @throws Error if the lease cannot be read: nothing was tried
 * @throws Error with all that failed, after everything was tried
 */
export async function endRun(
    cluster: Cluster,
    holder: LeaseHolder & { plan: Plan },
    { say, inBackground = false }: { say?: Say; inBackground?: boolean } = {},
): Promise<{ at: number; recovery: Promise<Recovered | undefined> }> {
    const { plan } = holder;
    const { own, others } = await leaseFor(cluster, holder);
    const { at, noted } = await end(cluster, own, async (api) =>
        others ? 0 : endAttacks(api, activeLeftOf(plan), say),
    );
    const timeoutMs = inBackground ? backgroundTimeoutMs : recoveryTimeoutMs;
    const recovery = noteRecovery(cluster, noted, at, plan, timeoutMs);
    if (inBackground) await undisturbed(recovery);
    return { at, recovery };
}

/**
 * Whether a run has its verdict, and has lost an attack since: at its deadline, or because somebody has deleted its
 * object. It must be ended then. A refresh has the engine create such an object again: pods that still have the labels
 * would be attacked again, and a deadline Job of the run would kill again. Or it has lost its deadline Job, or what
 * that needs: nothing else would end it in time, and one that a refresh creates again is not let through other
 * policies. What this account may not read counts as there.
 */
export async function isLost(cluster: Cluster, holder: LeaseHolder & { plan: Plan }): Promise<boolean> {
    const { own } = await leaseFor(cluster, holder);
    const run = runNameOf(holder.plan, holder.stack);
    // If a run has no verdict, its update may have been killed before it had made all attacks.
    if (own === undefined || runIn(own) !== run || !isConcluded(own)) return false;
    const job = needsDeadlineJob(holder.plan) ? jobTypes.map((resource) => ({ resource, name: jobNameOf(run) })) : [];
    const get: ObjectApi["get"] = (object) => unlessUnreadable(cluster.get(object)) as never;
    return (await uidsOfAttacks({ get }, holder.plan, run, job)) === undefined;
}

/**
 * Ends a run here, and in its lease at the same time: that names the run no longer. So its deadline Job ends it too,
 * within seconds, also if it cannot be ended here, and begins nothing again. Once it is ended, the lease says so, also
 * of a run without an attack: until then no other experiment may begin in the namespace.
 *
 * @param lease the run's. @default nothing is noted
 * @returns `noted`, the lease as it was noted. Absent if it is gone, or another run's by now
 */
async function end(
    cluster: Cluster,
    lease: V1Lease | undefined,
    how: (api: ObjectApi) => Promise<number>,
): Promise<{ at: number; swept: number; noted?: V1Lease }> {
    const ending = how(cluster);
    const unnaming = lease && moveLease(cluster, lease, leaseMoves.ending);
    await valuesOf<unknown>([ending, unnaming]);
    const at = Date.now();
    const unnamed = await unnaming;
    const noted = unnamed && (await moveLease(cluster, unnamed, leaseMoves.ended({ at })));
    return { at, swept: await ending, noted };
}

/** Calls a function. Undefined if that throws: a mistake in a definition is reported elsewhere. */
function attempt<T>(what: () => T): T | undefined {
    try {
        return what();
    } catch {
        return undefined;
    }
}

/** Whether a lease is held by another run, or by one that was not ended to the end. */
const isOfAnother = (lease: V1Lease, run: string): boolean => runIn(lease) !== run && earlyEndOf(lease) === undefined;

/**
 * Notes when the application had recovered, in the lease if there is one. Never rejects: if it was not seen here, the
 * recovery step waits for it.
 */
async function noteRecovery(
    cluster: Cluster,
    lease: V1Lease | undefined,
    at: number,
    plan: Plan,
    timeoutMs: number,
): Promise<Recovered | undefined> {
    try {
        const recovered = (await recover(cluster, plan, timeoutMs)) ?? undefined;
        if (recovered && lease) await moveLease(cluster, lease, leaseMoves.ended({ at, ...recovered }));
        return recovered;
    } catch {
        return undefined;
    }
}

const undisturbed = (recovery: Promise<unknown>) => Promise.race([recovery, sleep(undisturbedMs)]);

/** The values of steps that all were tried. @throws Error as `throwAll` */
async function valuesOf<T>(tried: readonly (Promise<T> | undefined)[]): Promise<T[]> {
    const results = await Promise.allSettled(tried.filter((one) => one !== undefined));
    throwAll(results.flatMap((result): unknown[] => (result.status === "rejected" ? [result.reason] : [])));
    return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
}
