/** PodChaos: https://github.com/chaos-mesh/chaos-mesh/blob/master/api/v1alpha1/podchaos_types.go */
import { type Fields, Refusal } from "../fields";
import { killOnce, killsFewer } from "../imported";
import type { Context, Read, Reader } from "./reader";

const actions: Record<string, Reader | Refusal> = {
    "pod-kill": killed,
    "pod-failure": new Refusal(
        "gives the containers an image that only pauses; no attack does that. Nearest: a blackhole, in which they " +
            "run on, and nobody reaches them",
    ),
    "container-kill": new Refusal(
        "kills a container and leaves its pod; no attack does that. Nearest: action: pod-kill, which deletes the pod",
    ),
};

export const readPodChaos: Reader = (spec, context) => spec.word("action", actions)?.(spec, context);

function killed(spec: Fields, { everyMs }: Context): Read {
    spec.note("pods end within their terminationGracePeriodSeconds; its default, 0, ends them at once", "gracePeriod");
    spec.note(killsFewer, "action");
    if (spec.has("containerNames")) spec.note("Chaos Mesh ignores it beside pod-kill", "containerNames");
    if (everyMs === undefined) return { attack: killOnce, isAtOnce: true };
    spec.note(
        "is done again and again by the Schedule; here too, but of the first pods' replacements, one at a time, and " +
            "while no more are missing than the radius allows",
        "action",
    );
    return { attack: { kind: "kill", intervalMs: everyMs }, isAtOnce: true };
}
