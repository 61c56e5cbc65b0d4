/** PodChaos: https://github.com/chaos-mesh/chaos-mesh/blob/master/api/v1alpha1/podchaos_types.go */
import { type Duration, formatDuration, parseDuration } from "../../../values/duration";
import { type Fields, type Refusal, unlikeAny } from "../fields";
import { killOnce, killsFewer } from "../imported";
import type { Context, Read, Reader } from "./reader";

const actions: Record<string, Reader | Refusal> = {
    "pod-kill": killed,
    "pod-failure": failed,
    "container-kill": unlikeAny(
        "kills a container once and leaves its pod",
        "action: pod-kill, which deletes the pod, or pod-failure, in which containers stay stopped",
    ),
};

export const readPodChaos: Reader = (spec, context) => spec.word("action", actions)?.(spec, context);

function failed(spec: Fields): Read {
    spec.note(
        "runs a program that only pauses in each container there, so that pods without a readiness probe stay ready; " +
            "here the containers do not run. Pods of Jobs and static pods are refused",
        "action",
    );
    if (spec.has("containerNames")) spec.note("Chaos Mesh ignores it beside pod-failure", "containerNames");
    if (spec.has("gracePeriod")) spec.note("Chaos Mesh ignores it beside pod-failure", "gracePeriod");
    return { attack: { kind: "fail" } };
}

function killed(spec: Fields, { everyMs }: Context): Read {
    spec.note("pods end within their terminationGracePeriodSeconds; its default, 0, ends them at once", "gracePeriod");
    spec.note(killsFewer, "action");
    if (spec.has("containerNames")) spec.note("Chaos Mesh ignores it beside pod-kill", "containerNames");
    if (everyMs === undefined) return { attack: killOnce, isAtOnce: true };
    return { attack: { kind: "kill", intervalMs: everyMs }, isAtOnce: true };
}

/** @param window as long as it is here */
export function noteRepeated(spec: Fields, everyMs: number, window: Duration): void {
    const every = formatDuration(everyMs);
    spec.note(
        everyMs > parseDuration(window)!
            ? `is done again after ${every} there; the window here, ${window}, may end before: lengthen it`
            : "is done again and again there, until the Schedule ends; here until the window does, but of the first " +
                  "pods' replacements, one at a time, and while no more are missing than the radius allows",
        "action",
    );
}
