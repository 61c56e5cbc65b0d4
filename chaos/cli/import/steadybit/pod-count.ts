/** Pod counts of workloads: https://github.com/steadybit/extension-kubernetes/blob/main/extcommon/pod_count_check.go */
import { formatDuration } from "../../../values/duration";
import type { Fields } from "../fields";
import type { Additions, Draft } from "../imported";
import { targetOf } from "../target";
import { noteFailEarly } from "./http-check";
import { conditionsIn } from "./query";

/** Fields of workloads, which are left out where they are 0. */
const workloads: Readonly<Record<string, { kind: string; ready: string; missing?: string }>> = {
    "k8s.deployment": { kind: "Deployment", ready: "status.readyReplicas", missing: "status.unavailableReplicas" },
    "k8s.statefulset": { kind: "StatefulSet", ready: "status.readyReplicas" },
    "k8s.daemonset": { kind: "DaemonSet", ready: "status.numberReady", missing: "status.numberUnavailable" },
};

export const modeKey = "podCountCheckMode";
export const noneReady = "podCountEquals0";

/** What a mode wants of a field. None of them: a rollout's additional pods may be missing while enough are ready. */
const modes: Readonly<Record<string, { of: "ready" | "missing"; atLeast?: number; equals?: number }>> = {
    podCountMin1: { of: "ready", atLeast: 1 },
    [noneReady]: { of: "ready", equals: 0 },
    podCountEqualsDesiredCount: { of: "missing", equals: 0 },
    podCountGreaterEqualsDesiredCount: { of: "missing", equals: 0 },
};

/**
 * A condition of the one workload that the radius names. Undefined if that cannot be said: the step is left out.
 *
 * @param rolledOut names of Deployments that are rolled out meanwhile
 */
export function countOf(
    step: Fields,
    parameters: Fields,
    { namespace }: Additions,
    rolledOut: readonly unknown[] = [],
): Draft | undefined {
    const mode = modes[parameters.draft(modeKey) ?? "podCountEqualsDesiredCount"];
    const radius = step.apart().object("radius");
    const conditions = conditionsIn(radius);
    const [workload, ...others] = conditions.filter(({ key }) => key !== "k8s.namespace");
    const known = workloads[workload?.key ?? ""];
    const [name, ...further] = workload?.values ?? [];
    const field = mode && known?.[mode.of];
    if (field === undefined || name === undefined) return undefined;
    if (workload!.values === "any" || workload!.negated || further.length > 0 || others.length > 0) return undefined;
    const isOfSurge = known!.kind === "Deployment" && mode!.of === "missing";
    if (isOfSurge && rolledOut.includes(name)) return undefined;
    const found = targetOf(radius, conditions, namespace);
    for (const placeholder of radius.remarks.unset) step.remarks.unset.add(placeholder);
    if (radius.remarks.refused.length > 0) return undefined;
    if (mode!.of === "missing")
        parameters.note(
            `here ${field} is 0: a ready pod counts in it until it is available` +
                (isOfSurge ? ", and so do the additional pods of a rollout" : ""),
            modeKey,
        );
    noteFailEarly(parameters);
    step.take("radius");
    parameters.refuseRest();
    const { of: _, ...limits } = mode!;
    const object = { apiVersion: "apps/v1", kind: known!.kind, name, namespace: found?.namespace };
    return { kind: "condition", of: object, field, ...limits, ifMissing: 0 };
}

/** What begins a run, for a count that must be right at one moment before the attack. */
export const beginWith = (count: Draft, durationMs: number) => ({
    when: count,
    ...(durationMs > 0 && { within: formatDuration(durationMs) }),
});
