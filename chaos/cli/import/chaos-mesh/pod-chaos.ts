/** PodChaos: https://github.com/chaos-mesh/chaos-mesh/blob/master/api/v1alpha1/podchaos_types.go */
import { type Fields, Refusal } from "../fields";
import { type Draft, killOnce, killsFewer } from "../imported";
import type { Context, Read } from "./reader";

const actions: Record<string, Draft | Refusal> = {
    "pod-kill": killOnce,
    "pod-failure": new Refusal(
        "gives the containers an image that only pauses; no attack does that. Nearest: a blackhole, in which they " +
            "run on, and nobody reaches them",
    ),
    "container-kill": new Refusal(
        "kills a container and leaves its pod; no attack does that. Nearest: action: pod-kill, which deletes the pod",
    ),
};

export function readPodChaos(spec: Fields, { everyMs }: Context): Read | undefined {
    const attack = spec.word("action", actions);
    if (attack === undefined) return undefined;
    spec.note("pods end within their terminationGracePeriodSeconds; its default, 0, ends them at once", "gracePeriod");
    spec.note(killsFewer, "action");
    if (spec.has("containerNames")) spec.note("Chaos Mesh ignores it beside pod-kill", "containerNames");
    if (everyMs === undefined) return { attack, isAtOnce: true };
    spec.note(
        "is done again and again by the Schedule; here too, but of the first pods' replacements, one at a time, and " +
            "while no more are missing than the radius allows",
        "action",
    );
    return { attack: { kind: "kill", intervalMs: everyMs }, isAtOnce: true };
}
