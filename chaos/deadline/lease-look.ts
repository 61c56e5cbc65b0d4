import { annotations } from "../cluster/labels";
import { bodyOf, get } from "./api";
import type { KeptTargets } from "../definition/plan";
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

/**
 * When a run took the lease, in milliseconds since the epoch. Undefined if the lease does not say so.
 *
 * @throws Error if the API server does not say
 */
export async function takenAt({ path, run }: LeaseOfRun): Promise<number | undefined> {
    const answer = await get(path);
    if (answer.status === 404) return undefined;
    const { metadata, spec } = JSON.parse(bodyOf(answer, "the lease cannot be read")) as Lease;
    const at = Date.parse(spec?.renewTime ?? "");
    return metadata.annotations?.[annotations.run] === run && !Number.isNaN(at) ? at : undefined;
}

/**
 * To which targets the run's connections are kept. To none if the lease is lost.
 *
 * @throws Error if the API server does not say
 */
export async function keptTargets({ path, run }: LeaseOfRun): Promise<KeptTargets> {
    const { metadata } = JSON.parse(bodyOf(await get(path), "the lease cannot be read")) as Partial<Lease>;
    if (metadata?.annotations?.[annotations.run] !== run) return {};
    return JSON.parse(metadata.annotations[annotations.kept] ?? "{}") as KeptTargets;
}
