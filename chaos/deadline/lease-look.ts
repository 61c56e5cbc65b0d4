import { annotations } from "../cluster/labels";
import { get } from "./api";
import type { LeaseOfRun } from "./protocol";

interface Lease {
    metadata: { annotations?: Record<string, string> };
    spec?: { renewTime?: string; leaseDurationSeconds?: number };
}

/**
 * What a look at the namespace's lease shows: `held` by this run, `expired` but still naming it, or `lost`: deleted, or
 * another run's.
 */
export type LeaseState = "held" | "expired" | "lost";

/** @throws Error if the API server does not say. That is not a lost lease. */
export async function lookAtLease({ path, run }: LeaseOfRun): Promise<LeaseState> {
    const { status, body, sentAt } = await get(path);
    if (status === 404) return "lost";
    if (status !== 200) throw new Error(`the lease cannot be read: ${status}`);
    const { metadata, spec } = JSON.parse(body) as Lease;
    if (metadata.annotations?.[annotations.run] !== run) return "lost";
    const endsAt = Date.parse(spec?.renewTime ?? "") + (spec?.leaseDurationSeconds ?? 0) * 1_000;
    return sentAt > endsAt ? "expired" : "held";
}
