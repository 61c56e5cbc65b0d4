import type { FoundWorkload, WorkloadKind } from "./workload";
import { quoted } from "../values/quoted";

export type RolloutState = "complete" | { missing: string } | { failed: string };

export function whyNoRollout({ spec }: FoundWorkload): string | undefined {
    if (spec?.paused) return "its rollout is paused; resume it first";
    if (spec?.updateStrategy?.type === "OnDelete")
        return "its update strategy is OnDelete, which restarts no pod; allowed: RollingUpdate";
    return undefined;
}

/** As `kubectl rollout status` tells it: all pods are of the new template and available, and no old one is left. */
export function rolloutState(kind: WorkloadKind, workload: FoundWorkload): RolloutState {
    if (!isObserved(workload)) return { missing: notBegun };
    const stuck = whyStuck(workload);
    if (stuck !== undefined) return { failed: stuck };
    const { wanted, available } = podsOf(kind, workload);
    const old = describeOld(kind, workload);
    if (old !== undefined) return { missing: old };
    return available < wanted ? { missing: `${available} of ${wanted} pods are available` } : "complete";
}

/**
 * What a rollout that goes on by itself has yet to replace. Undefined if there is none: pods that are not available
 * need not go.
 */
export function whatIsReplaced(kind: WorkloadKind, workload: FoundWorkload): string | undefined {
    if (whyNoRollout(workload) !== undefined) return undefined;
    if (!isObserved(workload)) return notBegun;
    return whyStuck(workload) === undefined ? describeOld(kind, workload) : undefined;
}

const notBegun = "it has not begun";

const isObserved = ({ metadata, status }: FoundWorkload) =>
    (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);

function whyStuck({ status }: FoundWorkload): string | undefined {
    const stuck = status?.conditions?.find(
        ({ type, reason }) => type === "Progressing" && reason === "ProgressDeadlineExceeded",
    );
    return (
        stuck &&
        `the rollout exceeded its progress deadline: ${stuck.message ? quoted(stuck.message) : "no reason is known"}`
    );
}

function describeOld(kind: WorkloadKind, workload: FoundWorkload): string | undefined {
    const { wanted, updated, all } = podsOf(kind, workload);
    if (updated < wanted) return `${updated} of ${wanted} pods are new`;
    return all > wanted ? `${all - wanted} old ${all - wanted === 1 ? "pod is" : "pods are"} left` : undefined;
}

/** How many pods are wanted, of the new template, there at all, and available. */
function podsOf(kind: WorkloadKind, { spec, status = {} }: FoundWorkload) {
    if (kind === "DaemonSet") {
        const { desiredNumberScheduled: wanted = 0, updatedNumberScheduled: updated = 0, numberAvailable = 0 } = status;
        return { wanted, updated, all: wanted, available: numberAvailable };
    }
    const wanted = spec?.replicas ?? 1;
    const { updatedReplicas = 0, replicas: all = 0, availableReplicas: available = 0 } = status;
    const kept = Math.min(wanted, belowPartition({ spec }));
    return { wanted, updated: updatedReplicas + kept, all, available };
}

/** The pods of a StatefulSet below its partition stay as they are in a rollout. */
export const belowPartition = ({ spec }: FoundWorkload): number => spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
