import type { V1Lease } from "../values/kubernetes-types";
import { get, isMissing } from "./api";
import type { KeptTargets } from "../definition/plan";
import { hasNotBegun, keptIn, leaseEndsAt, runIn, timeOf } from "../lease/lease-record";
import type { LeaseOfRun } from "./protocol";

/**
 * What a look at the namespace's lease shows: `held` by this run, `expired` but still naming it, or `lost`: deleted, or
 * another run's.
 */
export type LeaseState = "held" | "expired" | "lost";

/** @throws Error if the API server does not say. That is not a lost lease. */
export async function lookAtLease(leaseOf: LeaseOfRun): Promise<LeaseState> {
    const { own, sentAt } = await readOwn(leaseOf);
    if (own === undefined) return "lost";
    return sentAt > leaseEndsAt(own) ? "expired" : "held";
}

/**
 * When a run took the lease first, by this node's clock, in milliseconds since the epoch. Undefined if the lease does
 * not say so.
 *
 * @throws Error if the API server does not say
 */
export async function takenAt(leaseOf: LeaseOfRun): Promise<number | undefined> {
    const { own, sentAt } = await readOwn(leaseOf);
    const at = timeOf(own?.spec?.acquireTime);
    return at === 0 ? undefined : Date.now() - (sentAt - at);
}

/**
 * What the lease says to the witness: `kept` is what `keptIn` reads. If the lease is lost, that is empty, and
 * `hasNotBegun` is false.
 *
 * @throws Error if the API server does not say
 */
export async function toldByLease(leaseOf: LeaseOfRun): Promise<{ kept: KeptTargets; hasNotBegun: boolean }> {
    const { own } = await readOwn(leaseOf);
    return own ? { kept: keptIn(own), hasNotBegun: hasNotBegun(own, leaseOf.run) } : { kept: {}, hasNotBegun: false };
}

/** The lease, if the run holds it, and the time by the API server's clock. */
async function readOwn({ path, run }: LeaseOfRun): Promise<{ own?: V1Lease; sentAt: number }> {
    const { status, body, sentAt } = await get(path);
    if (isMissing({ status, body })) return { sentAt };
    if (status !== 200) throw new Error(`the lease cannot be read: ${status}`);
    const lease = JSON.parse(body) as V1Lease;
    return runIn(lease) === run ? { own: lease, sentAt } : { sentAt };
}
